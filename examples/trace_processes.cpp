// Lists the processes that a trace saw start, without JSON: what the library `tracefile` is for.
//
//   trace_processes run.etl

#include <cstdio>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/etl/trace.hpp"

namespace {

using namespace coldtrace;

// Keeps the fields that are wanted, by name.
class ProcessFields final : public tracefile::FieldVisitor {
 public:
  unsigned long long pid = 0;
  std::string image;

  void value(const tracefile::FieldSchema& field, const tracefile::Value& value) override {
    if (field.name == "ProcessId") pid = value.number;
    if (field.name == "ImageFileName") image = core::to_valid_utf8(core::to_chars(value.bytes));
  }
  void begin_array(const tracefile::FieldSchema&) override {}
  void end_array() override {}
  void begin_structure(const tracefile::FieldSchema&) override {}
  void end_structure() override {}
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto file = core::FileImage::open(argv[1]);
  if (!file) return 2;
  core::Findings findings;
  const auto trace = tracefile::Trace::open(**file, {}, findings);
  if (!trace) return 2;

  tracefile::EventDecoder decoder{trace->schemas()};
  auto stream = trace->stream({});
  for (auto item = stream.next(); item != tracefile::EventStream::Item::end; item = stream.next()) {
    if (item != tracefile::EventStream::Item::event) continue;
    const auto& event = stream.event();
    const auto& kind = decoder.kind_of(event);  // costs no look at the payload
    if (kind.name != "Process/Start") continue;
    ProcessFields fields;
    decoder.decode(event, kind, fields);
    const auto time = core::to_string(trace->clock().to_file_time(event.timestamp));
    std::printf("%s %6llu %s\n", time.c_str(), fields.pid, fields.image.c_str());
  }
  return findings.has_warnings() ? 1 : 0;
}
