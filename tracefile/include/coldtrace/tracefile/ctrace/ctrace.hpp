#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_part.hpp"
#include "coldtrace/tracefile/etl/catalog.hpp"
#include "coldtrace/tracefile/etl/event_stream.hpp"
#include "coldtrace/tracefile/schema-language/schema_compiler.hpp"
#include "coldtrace/tracefile/schema-language/schema_parser.hpp"

namespace coldtrace::tracefile {

// An opened trace of one or several .ctrace files, coldtrace's own format
// (docs/formats/trace-format.md).
class Ctrace {
 public:
  // Reads the whole file once. `source` must outlive the trace. Fails if the header is incomplete;
  // anything less is a finding.
  static core::Result<std::unique_ptr<Ctrace>> open(core::Borrowed<core::ImageSource> source,
                                                    const CatalogOptions& options,
                                                    core::Findings& findings);

  // From several files, whose headers were read, with the findings of each. They are of one run of
  // one machine or, with `force`, of several: then processors are numbered separately, and names_
  // has no names. Fails with a sentence that says why they are not one trace.
  static core::Expected<std::unique_ptr<Ctrace>, std::string> merge(
      std::vector<CtracePart> parts, const CatalogOptions& options, bool force,
      std::span<core::Findings> findings, core::Findings& of_all);

  // In the order of Event::file.
  [[nodiscard]] const std::vector<CtracePart>& parts() const { return parts_; }
  // The buffers of one processor and session in sequence; by processor, then by session.
  [[nodiscard]] const std::vector<CtraceChain>& chains() const { return chains_; }
  [[nodiscard]] bool is_one_run() const { return parts_.back().run == 0; }
  // Of the first file.
  [[nodiscard]] const CtraceHeader& header() const { return parts_.front().header; }
  [[nodiscard]] const CtraceScan& scan() const { return parts_.front().scan; }
  // Of all files.
  [[nodiscard]] core::FileTime start_time() const;  // the earliest that is known, else 0
  [[nodiscard]] u64 events() const;
  [[nodiscard]] u64 lost() const;
  [[nodiscard]] u64 missing() const;
  [[nodiscard]] const std::vector<Schema>& declarations() const { return declarations_; }
  [[nodiscard]] const CompiledSchemas& schemas() const { return *schemas_; }
  [[nodiscard]] const NameTables& names() const { return names_; }
  // A clock of FILETIMEs: events carry their own time.
  [[nodiscard]] const Clock& clock() const { return clock_; }
  // Empty unless the options of open() ask for it.
  [[nodiscard]] const std::vector<KindCount>& kinds() const { return kinds_; }

  // How far off the time of an event between two pairs can be, in 100 ns; nothing if no two pairs
  // of a processor measure its rate.
  [[nodiscard]] std::optional<u64> error_bound() const { return error_bound_; }
  [[nodiscard]] const CtraceClock& clock_of(const CtracePart& part, u16 processor) const {
    return clocks_.at({part.run, processor});
  }

  // What the schema says about an entry: provider, id, process and thread, payload.
  void describe(const CtraceEntry& entry, Event& event) const;
  // All of it; `clock` is that of the processor.
  void to_event(u16 part, const CtraceBufferEntry& buffer, const CtraceEntry& entry,
                const CtraceClock& clock, CtraceClock::Cursor& cursor, Event& event) const;

  // `first` and `last` of the options are FILETIMEs; their pointer size means nothing here.
  [[nodiscard]] std::unique_ptr<EventSequence> stream(const StreamOptions& options) const;

 private:
  class Visitor;

  Ctrace(std::vector<CtracePart> parts, const CatalogOptions& options);
  void read_all(const CatalogOptions& options, std::span<core::Findings> findings,
                Visitor& visitor);
  std::optional<std::string> read_schemas(std::span<core::Findings> findings);
  void finish_clocks(std::span<core::Findings> findings);
  void finish_clock(u16 run, u16 processor, std::span<core::Findings> findings);
  void add_names(Visitor& visitor, core::Findings& findings);

  std::vector<CtracePart> parts_;
  std::vector<CtraceChain> chains_;
  std::map<std::pair<u16, u16>, CtraceClock> clocks_;  // by run and processor
  std::vector<Schema> declarations_;
  std::unique_ptr<CompiledSchemas> schemas_;
  NameTables names_;
  Clock clock_{ClockType::system_time, {}, 0, {1, 1}};
  std::vector<KindCount> kinds_;
  std::optional<u64> error_bound_;
};

}  // namespace coldtrace::tracefile
