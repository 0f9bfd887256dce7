#include "tests/tracefile/etl/trace_test.hpp"

#include <filesystem>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::tracefile {

std::string text_of(const Value& value, ValueText& texts) {
  core::TextBuffer buffer;
  switch (shape_of(value)) {
    case ValueShape::absent:
      return "null";
    case ValueShape::unsigned_integer:
      return std::to_string(shown_number(value));
    case ValueShape::signed_integer:
      return std::to_string(static_cast<i64>(value.number));
    case ValueShape::floating:
      return fmt::format("{}", shown_floating(value));
    case ValueShape::boolean:
      return value.number != 0 ? "true" : "false";
    case ValueShape::utf16_text:
      return core::decode_utf16(value.bytes).utf8;
    case ValueShape::ansi_text:
      return std::string{core::to_chars(value.bytes)};
    case ValueShape::text:
      break;
  }
  texts.append(buffer, value);
  return std::string{buffer.view()};
}

void FieldTexts::value(const FieldSchema& field, const Value& value) {
  auto& text = fields[path_ + field.name];
  if (!text.empty()) text += ' ';
  text += text_of(value, texts_);
}

OpenTrace open_bytes(std::vector<std::byte> bytes, unsigned jobs, unsigned pointer_size,
                     std::shared_ptr<const SchemaSource> schemas) {
  OpenTrace open;
  open.bytes = std::move(bytes);
  open.image = std::make_unique<core::MemoryImage>(open.bytes);
  CatalogOptions options;
  options.jobs = jobs;
  options.pointer_size = pointer_size;
  options.kinds = true;
  options.schemas = std::move(schemas);
  auto trace = Trace::open(*open.image, options, open.findings);
  if (!trace) FAIL(core::to_string(trace.error()));
  open.trace = std::make_unique<Trace>(std::move(*trace));
  return open;
}

std::string sample_path(const std::string& name) {
  return std::string{COLDTRACE_SHARED} + "/samples/etl/" + name;
}

bool samples_missing() {
  const bool missing = !std::filesystem::exists(sample_path("tx_HTTP_Server.etl"));
  if (missing) WARN("skipped: the sample traces are not here");
  return missing;
}

std::optional<OpenTrace> open_sample(const std::string& name, unsigned jobs) {
  if (samples_missing()) return std::nullopt;
  auto bytes = core::read_whole_file(sample_path(name), u64{1} << 30);
  REQUIRE(bytes);
  return open_bytes(std::move(*bytes), jobs);
}

std::vector<HeldEvent> all_events(const Trace& trace, const StreamOptions& options) {
  std::vector<HeldEvent> events;
  auto stream = trace.stream(options);
  for (auto item = stream.next(); item != EventStream::Item::end; item = stream.next())
    if (item == EventStream::Item::event) events.push_back({stream.event(), stream.buffer()});
  return events;
}

std::vector<Gap> all_gaps(const Trace& trace, const StreamOptions& options) {
  std::vector<Gap> gaps;
  auto stream = trace.stream(options);
  for (auto item = stream.next(); item != EventStream::Item::end; item = stream.next())
    if (item == EventStream::Item::gap) gaps.push_back(stream.gap());
  return gaps;
}

fixtures::ByteWriter words(std::initializer_list<u64> values) {
  fixtures::ByteWriter out;
  for (const auto value : values) out.write_u32(value);
  return out;
}

fixtures::ByteWriter pointer(u64 value) {
  fixtures::ByteWriter out;
  return out.write_u64(value);
}

std::vector<fixtures::EtlBuffer> overlapping_buffers(int rounds) {
  std::vector<fixtures::EtlBuffer> buffers;
  i64 time = 1'000'100;
  for (int round = 0; round < rounds; ++round) {
    fixtures::EtlBuffer first{0};
    fixtures::EtlBuffer second{1};
    for (int i = 0; i < 20; ++i) {
      first.perfinfo(system_call, 2, time, pointer(0xfffff80000000000 + static_cast<u64>(time)));
      second.system(ready_thread, 2, {7, 8, time + (i % 3)}, words({1, 0}));
      time += 10;
    }
    // A later buffer of one processor may be written first.
    buffers.push_back(round % 2 == 0 ? second : first);
    buffers.push_back(round % 2 == 0 ? first : second);
  }
  return buffers;
}

const Clock system_clock{ClockType::system_time, {0}, 0, {1, 1}};

std::map<std::string, std::string> decode(const EventSchema& schema, core::ByteView payload,
                                          Decoded expected, unsigned pointer_size) {
  FieldTexts texts{system_clock};
  CHECK(decode_fields(schema, payload, pointer_size, texts).decoded == expected);
  return texts.fields;
}

}  // namespace coldtrace::tracefile
