#include "coldtrace/tracefile/ctrace/ctrace.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"

namespace coldtrace::tracefile {
namespace {

// Keeps the text of one field.
class TextPicker final : public FieldVisitor {
 public:
  explicit TextPicker(const std::string& name) : name_{name} {}

  void value(const FieldSchema& field, const Value& value) override {
    if (depth_ != 0 || field.name != name_) return;
    if (shape_of(value) == ValueShape::utf16_text)
      core::append_utf16(text, value.bytes);
    else
      text += core::to_valid_utf8(core::to_chars(value.bytes));
  }
  void begin_array(const FieldSchema&) override { ++depth_; }
  void end_array() override { --depth_; }
  void begin_structure(const FieldSchema&) override { ++depth_; }
  void end_structure() override { --depth_; }

  std::string text;

 private:
  const std::string& name_;
  int depth_ = 0;
};

}  // namespace

// Counts kinds and keeps what names processes; both are known in full before the first line.
class Ctrace::Visitor final : public CtraceVisitor {
 public:
  Visitor(const Ctrace& trace, const CatalogOptions& options)
      : trace_{trace}, options_{options}, decoder_{trace.schemas()} {}

  struct Started {
    u64 stamp;
    u32 pid;
    u16 processor;
    std::string name;
  };

  void visit(u16 processor, const CtraceEntry& entry) override {
    if (options_.kinds) count(entry);
    if (!options_.names) return;
    const auto* known = trace_.schemas().find_event(entry.type, entry.version);
    if (known == nullptr || !known->started_process_offset || !known->image_name) return;
    const auto pid = core::load<u32>(entry.data, *known->started_process_offset);
    if (!pid || bytes_ > options_.largest_names) return;
    TextPicker picker{known->schema->fields[*known->image_name].name};
    decode_fields(*known->schema, entry.data, trace_.header().pointer_size, picker);
    if (picker.text.empty()) return;
    bytes_ += sizeof(Started) + picker.text.size();
    started.push_back({entry.stamp, *pid, processor, std::move(picker.text)});
  }

  void add_to(KindCounts& counts) const { counter_.add_to(counts); }

  std::vector<Started> started;

 private:
  void count(const CtraceEntry& entry) {
    Event event{};
    trace_.describe(entry, event);
    const auto& kind = decoder_.kind_of(event);
    counter_.count(kind, decoder_.measure(event, kind).decoded);
  }

  const Ctrace& trace_;
  const CatalogOptions& options_;
  EventDecoder decoder_;
  KindCounter counter_;
  std::size_t bytes_ = 0;
};

Ctrace::Ctrace(const core::ImageSource& source, CtraceHeader header, const CatalogOptions& options)
    : source_{source}, header_{std::move(header)}, names_{options.largest_names} {}

core::Result<std::unique_ptr<Ctrace>> Ctrace::open(const core::ImageSource& source,
                                                   const CatalogOptions& options,
                                                   core::Findings& findings) {
  auto header = COLDTRACE_TRY(read_ctrace_header(source));
  std::unique_ptr<Ctrace> trace{new Ctrace{source, std::move(header), options}};
  trace->read_schemas(findings);
  Visitor visitor{*trace, options};
  trace->scan_ = scan_ctrace(source, trace->header_, visitor, findings);
  trace->finish_clocks(findings);
  trace->add_names(visitor, findings);
  KindCounts counts;
  visitor.add_to(counts);
  trace->kinds_ = counts.sorted();
  return trace;
}

void Ctrace::read_schemas(core::Findings& findings) {
  auto schemas = parse_schemas(header_.schema_text);
  if (schemas)
    declarations_ = std::move(*schemas);
  else
    findings.warning("schema-text", CtraceHeader::size_on_disk,
                     "the schema text of the trace has an error at {}", to_string(schemas.error()));
  schemas_ = std::make_unique<CompiledSchemas>(declarations_, header_.pointer_size);
}

void Ctrace::finish_clocks(core::Findings& findings) {
  for (auto& [number, processor] : scan_.processors) {
    auto& clock = processor.clock;
    clock.finish(header_.start_time, processor.first_stamp);
    if (clock.pairs() == 0)
      findings.warning("clock-no-pair", std::nullopt,
                       "processor {} has no calibration pair: its first event is taken to be at "
                       "the start of the trace",
                       number);
    else if (clock.pairs() == 1)
      findings.warning("clock-one-pair", clock.first_offset(),
                       "processor {} has one calibration pair: its times rest on the nominal "
                       "frequency",
                       number);
    error_bound_ = std::max(error_bound_, clock.error_bound(clock.fastest()));
  }
  error_bound_ += header_.time_resolution;
}

void Ctrace::add_names(Visitor& visitor, core::Findings& findings) {
  struct Named {
    i64 time;
    const Visitor::Started* started;
  };
  std::vector<Named> named;
  for (const auto& started : visitor.started) {
    CtraceClock::Cursor cursor;
    const auto time = clock_of(started.processor).to_time(started.stamp, cursor);
    named.push_back({static_cast<i64>(time.ticks), &started});
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const Named& a, const Named& b) { return a.time < b.time; });
  NameRecords records;
  for (const auto& one : named)
    records.add_started_process(one.started->pid, one.time, one.started->name);
  names_.add(records, findings);
  names_.finish();
}

u64 Ctrace::pairs() const {
  u64 pairs = 0;
  for (const auto& [number, processor] : scan_.processors) pairs += processor.clock.pairs();
  return pairs;
}

void Ctrace::describe(const CtraceEntry& entry, Event& event) const {
  event.event_class = EventClass::driver;
  event.pointer_size = header_.pointer_size;
  event.id = entry.type;
  event.version = entry.version;
  event.payload = entry.data;
  event.provider = {};
  event.pid = event.tid = std::nullopt;
  const auto* known = schemas_->find_event(entry.type, entry.version);
  if (known == nullptr) {
    // Another version of it says that its data is never shown.
    if (schemas_->is_encrypted(entry.type)) event.payload = {};
    return;
  }
  event.provider = known->provider;
  if (known->process_offset) event.pid = core::load<u32>(entry.data, *known->process_offset);
  if (known->thread_offset) event.tid = core::load<u32>(entry.data, *known->thread_offset);
}

void Ctrace::to_event(const CtraceBufferEntry& buffer, const CtraceEntry& entry,
                      const CtraceClock& clock, CtraceClock::Cursor& cursor, Event& event) const {
  describe(entry, event);
  event.timestamp = static_cast<i64>(entry.stamp);
  event.has_time = true;
  const auto time = clock.to_time(entry.stamp, cursor);
  event.file_time = time.ticks;
  event.approximate_time = time.approximate;
  event.cpu = buffer.processor;
  event.buffer_offset = buffer.offset;
  event.offset = entry.offset;
  event.size = static_cast<u32>(16 + entry.data.size());
}

}  // namespace coldtrace::tracefile
