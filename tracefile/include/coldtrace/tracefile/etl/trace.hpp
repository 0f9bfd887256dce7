#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/tracefile/etl/buffer_walker.hpp"
#include "coldtrace/tracefile/etl/catalog.hpp"
#include "coldtrace/tracefile/etl/event_stream.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"

namespace coldtrace::tracefile {

// How reliable the times of a file are.
enum class TimeQuality : u8 {
  exact,
  approximate,  // its clock runs at a rate that is not exactly known
  unknown,      // its header is lost
};
[[nodiscard]] std::string_view to_string(TimeQuality quality);

// How many events or buffers of all files of a trace were lost, by the loggers' own counts.
struct LostCount {
  std::optional<u64> all;  // nothing where a header that has the number is lost
  u64 at_least = 0;  // then by the other headers, and one for each buffer that tells of a loss
};

// An opened .etl file: where to start. Events come from stream(), one after the other and
// undecoded; an EventDecoder over schemas() decodes the fields of those that are wanted.
class Trace {
 public:
  // Reads the buffer headers and makes the first pass over all events. `source` must outlive the
  // trace. Fails if the bytes are not an .etl file; anything less is a finding.
  static core::Result<Trace> open(core::Borrowed<core::ImageSource> source,
                                  const CatalogOptions& options, core::Findings& findings);

  // From several files, whose buffers were found, with the findings of each. All have one clock,
  // that of the first that has its header, except those whose scan has an `other_clock`.
  [[nodiscard]] static Trace merge(std::vector<ScannedFile> files, const CatalogOptions& options,
                                   std::span<core::Findings> findings);

  // In the order of Event::file.
  [[nodiscard]] const std::vector<ScannedFile>& files() const { return *files_; }
  // Of the file whose clock is the trace's.
  [[nodiscard]] const LogfileHeader& header() const { return scan().header; }
  [[nodiscard]] const BufferScan& scan() const { return (*files_)[clock_file_].scan; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  // Of one of the files.
  [[nodiscard]] TimeQuality time_quality(const ScannedFile& file) const;
  [[nodiscard]] bool has_one_clock() const {
    return std::ranges::none_of(
        *files_, [](const ScannedFile& file) { return file.scan.other_clock.has_value(); });
  }
  [[nodiscard]] LostCount events_lost() const;
  [[nodiscard]] LostCount buffers_lost() const;
  [[nodiscard]] const NameTables& names() const { return catalog_->names; }
  [[nodiscard]] u64 events() const { return catalog_->events; }
  // Whether a buffer is the first thing in the file, not found after other bytes.
  [[nodiscard]] bool starts_file() const {
    return !scan().buffers.empty() && scan().buffers[0].offset == 0;
  }
  // Empty unless the options of open() ask for it.
  [[nodiscard]] const std::vector<KindCount>& kinds() const { return catalog_->kinds; }
  [[nodiscard]] const std::set<SchemaKey>& schema_keys() const { return catalog_->schema_keys; }
  [[nodiscard]] const std::set<MessagePdb>& message_pdbs() const { return catalog_->message_pdbs; }

  // Where manifest events get their fields from, see TraceSchemas.
  [[nodiscard]] const SchemaChain& schemas() const { return *schemas_; }

  // An override of the pointer size in the options is the one given to open().
  [[nodiscard]] EventStream stream(StreamOptions options) const;

  // Calls `visit` with every event of one buffer of scan(). Safe from several threads at once.
  template <class Visit>
  void visit_buffer(const BufferEntry& entry, Visit visit) const {
    const auto buffer = load_buffer(*(*files_)[clock_file_].source, entry, scan().compression);
    BufferWalker walker{buffer->bytes, context_of(entry, scan()),
                        static_cast<u32>(BufferHeader::size_on_disk), OnDamage::pass,
                        pointer_size_};
    while (walker.next()) visit(walker.event());
  }

 private:
  Trace(std::unique_ptr<std::vector<ScannedFile>> files, std::unique_ptr<Catalog> catalog,
        unsigned pointer_size);

  std::unique_ptr<std::vector<ScannedFile>> files_;
  std::size_t clock_file_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<SchemaChain> schemas_;
  Clock clock_;
  unsigned pointer_size_;
};

}  // namespace coldtrace::tracefile
