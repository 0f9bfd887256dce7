#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/etl/kind_counts.hpp"
#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

using fixtures::ByteWriter;
using fixtures::EtlBuffer;

constexpr auto metadata = *core::parse_guid("bbccf6c1-6cd1-48c4-80ff-839482e37671");
constexpr auto described_twice = *core::parse_guid("11111111-2222-3333-4444-555555555551");
constexpr auto described_late = *core::parse_guid("11111111-2222-3333-4444-555555555552");
constexpr auto never_described = *core::parse_guid("11111111-2222-3333-4444-555555555553");

// A TRACE_EVENT_INFO of event 1 with one field of four bytes.
ByteWriter embedded_schema(const core::Guid& provider) {
  ByteWriter out;
  out.write_bytes(provider.bytes).write_zeros(16).write_u16(1).write_zeros(14);
  out.write_u32(0).write_zeros(48).write_u32(1).write_u32(1).write_u32(0);
  out.write_u32(0).write_u32(136).write_u16(8).write_u16(0).write_u32(0);
  out.write_u16(1).write_u16(4).write_u32(0);
  return out.write_bytes(fixtures::utf16z("Field").view());
}

// A manifest in one piece, in which event 1 has one field of two bytes.
ByteWriter manifest(const core::Guid& provider) {
  ByteWriter out;
  out.write_u8(1).write_u8(1).write_u8(0).write_u8(0x5b).write_u16(1).write_u16(0);
  return out.write_text(fmt::format(
      R"(<instrumentationManifest><instrumentation><events><provider name="Late" guid="{{{}}}">)"
      R"(<events><event value="1" version="0" template="T" symbol="One"/></events>)"
      R"(<templates><template tid="T"><data name="Half" inType="win:UInt16"/></template>)"
      R"(</templates></provider></events></instrumentation></instrumentationManifest>)",
      core::to_string(provider)));
}

// 300 buffers: more than one part of the first pass, whatever its size.
std::vector<EtlBuffer> trace_with_late_schemas() {
  std::vector<EtlBuffer> buffers;
  i64 time = 1'000'100;
  for (int i = 0; i < 300; ++i) {
    EtlBuffer buffer{static_cast<u16>(i % 2)};
    for (const auto& provider : {described_twice, described_late, never_described})
      buffer.event(provider, 1, 0, {1, 2, ++time}, words({7}));
    if (i == 100)
      buffer.event(described_twice, 0xfffe, 1, {1, 2, ++time}, manifest(described_twice), {}, 0xfe);
    if (i == 150)
      buffer.event(described_late, 0xfffe, 1, {1, 2, ++time}, manifest(described_late), {}, 0xfe);
    if (i == 250) buffer.full(metadata, 32, 0, {1, 2, ++time}, embedded_schema(described_twice));
    buffers.push_back(buffer);
  }
  return buffers;
}

std::vector<std::string> lines(const std::vector<KindCount>& kinds) {
  std::vector<std::string> all;
  for (const auto& count : kinds)
    all.push_back(fmt::format("{} {} {} {} '{}' '{}' {} {} {} {}",
                              core::to_string(count.kind.provider),
                              static_cast<int>(count.kind.event_class), count.kind.id,
                              count.kind.version, count.kind.provider_name, count.kind.name,
                              count.events[0], count.events[1], count.events[2], count.events[3]));
  return all;
}

// Takes fields and makes nothing of them.
struct Nowhere final : FieldVisitor {
  void value(const FieldSchema&, const Value&) override {}
  void begin_array(const FieldSchema&) override {}
  void end_array() override {}
  void begin_structure(const FieldSchema&) override {}
  void end_structure() override {}
};

// Event by event, with all schemas of the trace.
std::vector<std::string> counted_one_by_one(const Trace& trace) {
  EventDecoder decoder{trace.schemas()};
  KindCounter counter;
  Nowhere nowhere;
  for (const auto& held : all_events(trace)) {
    const auto& kind = decoder.kind_of(held.event);
    counter.count(kind, decoder.decode(held.event, kind, nowhere).decoded);
  }
  KindCounts counts;
  counter.add_to(counts);
  return lines(counts.sorted());
}

}  // namespace

TEST_CASE("events are counted with the schemas of the whole trace, wherever these stand") {
  const unsigned jobs = GENERATE(1U, 2U, 5U);
  const auto open = open_bytes(fixtures::build_etl({}, trace_with_late_schemas()), jobs);
  CHECK(lines(open.trace->kinds()) == counted_one_by_one(*open.trace));
  std::map<core::Guid, std::array<u64, 4>> found;
  for (const auto& count : open.trace->kinds())
    if (count.kind.event_class == EventClass::manifest && count.kind.id == 1)
      found[count.kind.provider] = count.events;
  CHECK(found[described_twice] == std::array<u64, 4>{300, 0, 0, 0});
  CHECK(found[described_late] == std::array<u64, 4>{0, 300, 0, 0});
  CHECK(found[never_described] == std::array<u64, 4>{0, 0, 0, 300});
}

TEST_CASE("schemas from outside serve what the trace does not describe") {
  auto outside = std::make_shared<SchemaTable>();
  for (const auto& provider : {described_twice, described_late, never_described}) {
    EventSchema schema;
    schema.provider_name = "Outside";
    FieldSchema field;
    field.name = "Byte";
    field.in = InType::u8;
    schema.fields.push_back(field);
    outside->add({provider, 1, 0, false}, std::move(schema));
  }
  const unsigned jobs = GENERATE(1U, 2U, 5U);
  const auto open =
      open_bytes(fixtures::build_etl({}, trace_with_late_schemas()), jobs, 0, outside);
  CHECK(lines(open.trace->kinds()) == counted_one_by_one(*open.trace));
  std::map<core::Guid, std::string> fields;
  for (const auto& provider : {described_twice, described_late, never_described})
    for (const auto& count : open.trace->kinds())
      if (count.kind.provider == provider && count.kind.id == 1)
        fields[provider] += count.kind.schema->fields[0].name;
  CHECK(fields[described_twice] == "Field");
  CHECK(fields[described_late] == "Half");
  CHECK(fields[never_described] == "Byte");
}

TEST_CASE("the samples are counted as they decode") {
  const std::string name = GENERATE(as<std::string>{}, "dp_vsgc", "pv_net.4.5.2.x64", "pv_gcevents",
                                    "pv_primitive-types", "tx_BondEtwSample");
  const auto open = open_sample(name + ".etl", 2);
  if (!open) return;
  CHECK(lines(open->trace->kinds()) == counted_one_by_one(*open->trace));
}

}  // namespace coldtrace::tracefile
