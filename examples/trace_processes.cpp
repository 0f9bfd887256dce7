// Lists the processes that started during a trace, from the fields of their events.
#include <cstdio>

#include <coldtrace/core/text.hpp>
#include <coldtrace/tracefile/opening/any_trace.hpp>
using namespace coldtrace::core;
using namespace coldtrace::tracefile;
struct ProcessFields final : FieldVisitor {
  void value(const FieldSchema& field, const Value& value) override {
    if (field.name == "ProcessId") std::printf("%6llu ", value.number + 0ULL);
    if (field.name == "ImageFileName") std::puts(to_valid_utf8(to_chars(value.bytes)).c_str());
  }
  void begin_array(const FieldSchema&) override {}
  void end_array() override {}
  void begin_structure(const FieldSchema&) override {}
  void end_structure() override {}
};
int main(int argc, char** argv) {
  Findings findings;
  const auto trace = AnyTrace::open(argc == 2 ? argv[1] : "", {}, findings);
  if (!trace) return 2;
  EventDecoder decoder{trace->schemas()};
  ProcessFields fields;
  const auto events = trace->stream({});
  for (auto item = events->next(); item != EventSequence::Item::end; item = events->next())
    if (item == EventSequence::Item::event)
      if (const auto& kind = decoder.kind_of(events->event()); kind.name == "Process/Start")
        decoder.decode(events->event(), kind, fields);
  return findings.has_warnings() ? 1 : 0;
}
