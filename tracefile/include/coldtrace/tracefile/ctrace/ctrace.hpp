#pragma once

#include <memory>

#include "coldtrace/tracefile/ctrace/ctrace_scan.hpp"
#include "coldtrace/tracefile/etl/catalog.hpp"
#include "coldtrace/tracefile/etl/event_stream.hpp"
#include "coldtrace/tracefile/schema-language/schema_compiler.hpp"
#include "coldtrace/tracefile/schema-language/schema_parser.hpp"

namespace coldtrace::tracefile {

// An opened .ctrace file, coldtrace's own format (docs/formats/trace-format.md).
class Ctrace {
 public:
  // Reads the whole file once. `source` must outlive the trace. Fails when the header is not whole;
  // anything less is a finding.
  static core::Result<std::unique_ptr<Ctrace>> open(const core::ImageSource& source,
                                                    const CatalogOptions& options,
                                                    core::Findings& findings);
  static core::Result<std::unique_ptr<Ctrace>> open(const core::ImageSource&&,
                                                    const CatalogOptions&,
                                                    core::Findings&) = delete;

  const core::ImageSource& source() const { return source_; }
  const CtraceHeader& header() const { return header_; }
  const CtraceScan& scan() const { return scan_; }
  const std::vector<Schema>& declarations() const { return declarations_; }
  const CompiledSchemas& schemas() const { return *schemas_; }
  const NameTables& names() const { return names_; }
  // Of FILETIMEs: events carry their own time.
  const Clock& clock() const { return clock_; }
  // Empty unless the options of open() ask for it.
  const std::vector<KindCount>& kinds() const { return kinds_; }

  // How far the time of an event between two pairs can be wrong, in 100 ns.
  u64 error_bound() const { return error_bound_; }
  u64 pairs() const;
  const CtraceClock& clock_of(u16 processor) const { return scan_.processors.at(processor).clock; }

  // What the schema says of an entry: provider, id, process and thread, payload.
  void describe(const CtraceEntry& entry, Event& event) const;
  // All of it; `clock` is that of the processor.
  void to_event(const CtraceBufferEntry& buffer, const CtraceEntry& entry, const CtraceClock& clock,
                CtraceClock::Cursor& cursor, Event& event) const;

  // `first` and `last` of the options are FILETIMEs; what they have of pointers means nothing here.
  std::unique_ptr<EventSequence> stream(const StreamOptions& options) const;

 private:
  class Visitor;

  Ctrace(const core::ImageSource& source, CtraceHeader header, const CatalogOptions& options);
  void read_schemas(core::Findings& findings);
  void finish_clocks(core::Findings& findings);
  void add_names(Visitor& visitor, core::Findings& findings);

  const core::ImageSource& source_;
  CtraceHeader header_;
  CtraceScan scan_;
  std::vector<Schema> declarations_;
  std::unique_ptr<CompiledSchemas> schemas_;
  NameTables names_;
  Clock clock_{ClockType::system_time, {}, 0, {1, 1}};
  std::vector<KindCount> kinds_;
  u64 error_bound_ = 0;
};

}  // namespace coldtrace::tracefile
