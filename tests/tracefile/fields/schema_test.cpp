#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/tracefile/fields/event_schema.hpp"
#include "fixtures/builders/value_of.hpp"
#include "tests/tracefile/etl/trace_test.hpp"
#include "tracefile/providers/event_source_manifest.hpp"

namespace coldtrace::tracefile {
namespace {

using fixtures::ByteWriter;

// A TRACE_EVENT_INFO of three fields: a count, an array of structures of two members, a binary
// whose length the count gives.
struct InfoBlob {
  ByteWriter bytes;
  std::size_t names = 0;

  u32 name(std::string_view text) {
    const auto at = bytes.size();
    bytes.write_bytes(fixtures::utf16z(text).view());
    return static_cast<u32>(at);
  }
  void property(std::size_t index, u32 flags, u32 name_at, u16 a, u16 b, u16 count, u16 length,
                u32 map = 0) {
    const auto at = 112 + index * 24;
    bytes.patch(at, flags).patch(at + 4, name_at).patch(at + 8, a).patch(at + 10, b);
    bytes.patch(at + 12, map).patch(at + 16, count).patch(at + 18, length);
  }
};

InfoBlob sample_blob() {
  InfoBlob blob;
  blob.bytes.write_zeros(112 + 5 * 24);
  blob.bytes.patch(0, u64{0x1111111111111111}).patch(8, u64{0x2222222222222222});
  blob.bytes.patch(32, u16{77}).patch(34, u8{2});
  blob.bytes.patch(52, blob.name("Some-Provider")).patch(68, blob.name("Task "));
  blob.bytes.patch(72, blob.name("Begin")).patch(100, u32{5}).patch(104, u32{3});
  blob.property(0, 0, blob.name("Count"), 6, 0, 1, 2);
  blob.property(1, 1 | 4, blob.name("Rows"), 3, 2, 0, 0);
  blob.property(2, 2, blob.name("Data"), 14, 15, 1, 0);
  blob.property(3, 0, blob.name("Address"), 8, 23, 1, 4);
  blob.property(4, 0, blob.name("Name"), 1, 0, 1, 0);
  return blob;
}

constexpr std::string_view manifest_text = R"xml(<?xml version="1.0"?>
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation><events>
  <provider name="My-Source" guid="{11111111-2222-3333-4444-555555555555}">
   <tasks><task name="Work" value="1"/></tasks>
   <maps><valueMap name="Colours"><map value="2" message="$(string.map_2)"/></valueMap>
         <bitMap name="Bits"><map value="0x1" message="One"/><map value="0x4" message="Four"/>
         </bitMap></maps>
   <events>
    <event value="1" version="0" task="Work" opcode="win:Start" template="T"/>
    <event value="2" version="3" symbol="Lone" message="$(string.event_2)"/>
    <event value="3" version="0" symbol="Odd" template="U"/>
   </events>
   <templates>
    <template tid="T"><data name="Text" inType="win:UnicodeString"/>
     <data name="Colour" inType="win:UInt32" map="Colours"/>
     <data name="Flags" inType="win:UInt32" map="Bits"/>
     <data name="Size" inType="win:UInt32"/>
     <data name="Bytes" inType="win:Binary" length="Size"/>
     <struct name="Row" count="2"><data name="N" inType="win:Int8"/></struct></template>
    <template tid="U"><data name="A" inType="win:UInt8"/><data name="B" inType="win:Strange"/>
    </template>
   </templates>
  </provider></events></instrumentation>
 <localization><resources culture="en-US"><stringTable>
  <string id="map_2" value="Green"/><string id="event_2" value="Hello"/>
 </stringTable></resources></localization>
</instrumentationManifest>)xml";

}  // namespace

TEST_CASE("an embedded schema gives its names, structures, counts and lengths") {
  const auto blob = sample_blob();
  const auto found = read_event_schema(blob.bytes.view(), 0);
  REQUIRE(found);
  CHECK(found->key.id == 77);
  CHECK(found->key.version == 2);
  CHECK_FALSE(found->key.classic);
  CHECK(found->schema.provider_name == "Some-Provider");
  CHECK(found->schema.event_name == "Task/Begin");
  ByteWriter payload;
  payload.write_u16(2).write_u32(0x0100007f).write_bytes(fixtures::utf16z("x").view());
  payload.write_u32(0x0200007f).write_bytes(fixtures::utf16z("yz").view()).write_u16(0xbbaa);
  const auto fields = decode(found->schema, payload.view());
  CHECK(fields.at("Count") == "2");
  CHECK(fields.at("Rows.Address") == "127.0.0.1 127.0.0.2");
  CHECK(fields.at("Rows.Name") == "x yz");
  CHECK(fields.at("Data") == "aabb");
}

TEST_CASE("names of events do not have the prefix of predefined opcodes") {
  const auto [opcode, name] = GENERATE(
      table<std::string, std::string>({{"win:Start", "Task/Start"}, {"win:Info", "Task"}}));
  auto blob = sample_blob();
  blob.bytes.patch(72, blob.name(opcode));
  const auto found = read_event_schema(blob.bytes.view(), 0);
  REQUIRE(found);
  CHECK(found->schema.event_name == name);
  blob.bytes.patch(68, u32{0});
  CHECK(fixtures::value_of(read_event_schema(blob.bytes.view(), 0)).schema.event_name ==
        (opcode == "win:Info" ? "" : "Start"));
}

TEST_CASE("every cut of an embedded schema is an error inside it or a smaller schema") {
  const auto blob = sample_blob();
  for (std::size_t cut = 0; cut < blob.bytes.size(); ++cut) {
    const auto found = read_event_schema(blob.bytes.view().first(cut), 0x100);
    if (!found) CHECK(found.error().offset <= 0x100 + cut);
    if (cut < 112 + 5 * 24) CHECK_FALSE(found);
  }
}

TEST_CASE("structures that contain themselves or reach beyond the end are refused") {
  struct Row {
    const char* why;
    u16 first, members;
  };
  const auto row = GENERATE(values<Row>({{"contains itself", 1, 2},
                                         {"contains what comes before it", 0, 1},
                                         {"ends beyond the properties", 4, 9}}));
  CAPTURE(row.why);
  auto blob = sample_blob();
  blob.property(1, 1, 0, row.first, row.members, 1, 0);
  CHECK_FALSE(read_event_schema(blob.bytes.view(), 0));
}

TEST_CASE("structures that multiply are bounded") {
  constexpr u16 levels = 14;
  InfoBlob blob;
  blob.bytes.write_zeros(112 + (levels * 2 + 1) * 24);
  blob.bytes.patch(100, u32{levels * 2 + 1}).patch(104, u32{1});
  for (u16 i = 0; i < levels; ++i)
    for (u16 twin = 0; twin < 2; ++twin)
      blob.property(i * 2U + twin, 1, 0, static_cast<u16>(i * 2 + 2), i + 1 < levels ? 2 : 1, 1, 0);
  CHECK_FALSE(read_event_schema(blob.bytes.view(), 0));
}

TEST_CASE("an embedded map gives the names of values") {
  ByteWriter blob;
  blob.write_zeros(16).write_u32(40).write_u32(2).write_u32(3).write_u32(0);
  blob.write_u32(46).write_u32(4).write_u32(50).write_u32(1).write_u32(54).write_u32(0);
  blob.pad_to(16 + 40).write_bytes(fixtures::utf16z("Ms").view());
  blob.write_bytes(fixtures::utf16z("D").view());
  blob.write_bytes(fixtures::utf16z("A").view()).write_bytes(fixtures::utf16z("0").view());
  const auto found = read_event_map(blob.view(), 0);
  REQUIRE(found);
  CHECK(found->map.name == "Ms");
  CHECK(found->map.bits);
  CHECK(find_mapped_names(found->map, 5) == "A|D");
  CHECK(find_mapped_names(found->map, 0) == "0");
  for (std::size_t cut = 0; cut < 56; ++cut)
    CHECK_FALSE(read_event_map(blob.view().first(cut), 0)
                    .map([](auto&& m) { return m.map.entries.size() == 3; })
                    .value_or(false));
}

TEST_CASE("an EventSource manifest gives its events, maps and structures") {
  const auto manifest = read_event_manifest(manifest_text, 0);
  REQUIRE(manifest);
  CHECK(manifest->provider_name == "My-Source");
  REQUIRE(manifest->schemas.size() == 3);
  const auto& [key, schema] = manifest->schemas[0];
  CHECK(key.id == 1);
  CHECK(schema.event_name == "Work/Start");
  CHECK(manifest->schemas[1].first.version == 3);
  CHECK(manifest->schemas[1].second.event_name == "Lone");
  CHECK(manifest->schemas[1].second.message == "Hello");
  ByteWriter payload;
  payload.write_bytes(fixtures::utf16z("t").view()).write_u32(2).write_u32(5).write_u32(3);
  payload.write_text("abc").write_u8(0xff).write_u8(1);
  const auto fields = decode(schema, payload.view());
  CHECK(fields.at("Text") == "t");
  CHECK(fields.at("Bytes") == "616263");
  CHECK(fields.at("Row.N") == "-1 1");
  CHECK(find_mapped_names(*schema.fields[1].map, 2) == "Green");
  CHECK(find_mapped_names(*schema.fields[2].map, 5) == "One|Four");
  // What follows an unknown type cannot be placed.
  CHECK(manifest->schemas[2].second.fields.size() == 1);
}

TEST_CASE("a manifest that is not XML or names no provider is refused") {
  CHECK_FALSE(read_event_manifest("", 0));
  CHECK_FALSE(read_event_manifest("<instrumentationManifest/>", 0));
  for (std::size_t cut = 0; cut + 1 < manifest_text.size(); cut += 13)
    CHECK_FALSE(read_event_manifest(manifest_text.substr(0, cut), 0));
}

TEST_CASE("manifests in pieces are put together for each provider and process") {
  constexpr auto provider = *core::parse_guid("11111111-2222-3333-4444-555555555555");
  const auto piece = [&](u16 total, u16 chunk, std::string_view text) {
    ByteWriter out;
    out.write_u8(1).write_u8(1).write_u8(0).write_u8(0x5b).write_u16(total).write_u16(chunk);
    return out.write_text(text);
  };
  const auto half = manifest_text.size() / 2;
  fixtures::EtlBuffer buffer{0};
  const auto add = [&](u32 pid, i64 time, const ByteWriter& payload) {
    buffer.event(provider, 0xfffe, 1, {1, pid, time}, payload, {}, 0xfe);
  };
  add(10, 1'000'001, piece(2, 0, "<other"));
  add(20, 1'000'002, piece(2, 0, manifest_text.substr(0, half)));
  add(30, 1'000'003, piece(2, 1, "lost its first"));
  add(20, 1'000'004, piece(2, 1, manifest_text.substr(half)));
  ByteWriter payload;
  payload.write_u8(7);
  fixtures::EtlBuffer before{0};
  // The event comes before the manifest that explains it.
  before.event(provider, 3, 0, {1, 20, 1'000'000}, payload);
  const auto open = open_bytes(fixtures::build_etl({}, {before, buffer}));
  EventDecoder decoder{open.trace->schemas()};
  const auto events = all_events(*open.trace);
  const auto& kind = decoder.kind_of(events[1].event);
  CHECK(kind.provider_name == "My-Source");
  CHECK(kind.name == "Odd");
  CHECK(decoder.measure(events[1].event, kind).decoded == Decoded::exact);
  CHECK(decoder.kind_of(events[2].event).name == "ManifestData");
}

TEST_CASE("values are shown as their output types ask") {
  struct Row {
    const char* why;
    InType in;
    OutType out;
    std::vector<u8> payload;
    std::string text;
  };
  const std::vector<Row> rows = {
      {"a port is in network order", InType::u16, OutType::port, {0x1f, 0x90}, "8080"},
      {"an NTSTATUS is hex", InType::u32, OutType::nt_status, {0x34, 0, 0, 0xc0}, "0xc0000034"},
      {"an HRESULT may be signed", InType::i32, OutType::hresult, {5, 0, 7, 0x80}, "0x80070005"},
      {"hex keeps to the width", InType::i8, OutType::hex8, {0xff}, "0xff"},
      {"a boolean of one byte", InType::u8, OutType::boolean, {2}, "true"},
      {"a SID", InType::sid, OutType::none, {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0}, "S-1-5-18"},
      {"a FILETIME",
       InType::file_time,
       OutType::none,
       {0x00, 0x80, 0x3e, 0xd5, 0xde, 0xb1, 0x9d, 0x01},
       "1970-01-01T00:00:00.0000000Z"},
      {"a FILETIME of 0 is not set",
       InType::file_time,
       OutType::none,
       {0, 0, 0, 0, 0, 0, 0, 0},
       "null"},
      {"a float", InType::f32, OutType::none, {0, 0, 0xc0, 0x3f}, "1.5"},
      {"a local time",
       InType::system_time,
       OutType::none,
       {0xe8, 0x07, 2, 0, 4, 0, 29, 0, 12, 0, 34, 0, 56, 0, 7, 0},
       "2024-02-29T12:34:56.007"},
      {"text of counted bytes", InType::counted_utf16, OutType::none, {2, 0, 'A', 0}, "A"},
      {"a count that is big-endian",
       InType::reversed_counted_ansi,
       OutType::none,
       {0, 1, 'B'},
       "B"},
      {"IPv6",
       InType::binary,
       OutType::ipv6,
       {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
       "::1"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    EventSchema schema;
    schema.fields.emplace_back();
    schema.fields[0].name = "Field";
    schema.fields[0].in = row.in;
    schema.fields[0].out = row.out;
    const auto fields = decode(schema, std::as_bytes(std::span{row.payload}));
    CHECK(fields.at("Field") == row.text);
  }
}

TEST_CASE("counts of nothing end, however large they are") {
  EventSchema schema;
  schema.slots = 1;
  FieldSchema count;
  count.name = "Count";
  count.in = InType::u16;
  count.slot = 1;
  FieldSchema rows;
  rows.name = "Rows";
  rows.in = InType::structure;
  rows.count = {FieldSchema::Rule::slot, 1};
  FieldSchema nothing;
  nothing.name = "Nothing";
  nothing.in = InType::null;
  nothing.count = {FieldSchema::Rule::slot, 1};
  rows.members = {nothing};
  schema.fields = {count, rows};
  const std::vector<u8> payload = {0xff, 0xff};
  const auto result = measure_fields(schema, std::as_bytes(std::span{payload}), 8, {});
  CHECK(result.decoded == Decoded::partial);
}

TEST_CASE("fields of equal name keep apart") {
  std::vector<FieldSchema> fields(4);
  fields[0].name = fields[1].name = fields[2].name = "Same";
  make_names_unique(fields);
  CHECK(fields[1].name == "Same_2");
  CHECK(fields[2].name == "Same_3");
  CHECK(fields[3].name == "_");
}

TEST_CASE("of a chain the first schema is taken, and those of alternatives are tried") {
  const SchemaKey first{{}, 1, 0, false}, second{{}, 2, 0, false}, third{{}, 3, 0, false};
  const auto table = [](std::initializer_list<SchemaKey> keys, const char* name) {
    auto made = std::make_shared<SchemaTable>();
    for (const auto& key : keys) {
      EventSchema schema;
      schema.event_name = name;
      made->add(key, std::move(schema));
    }
    return made;
  };
  SchemaChain chain;
  chain.append(table({first}, "trace"));
  chain.append(table({first, second}, "later in the trace"));
  chain.append_alternative(table({first, second, third}, "file"));
  chain.append_alternative(table({third}, "other file"));
  const auto names = [&](const SchemaKey& key) {
    std::vector<std::string> found{chain.find(key)->event_name};
    for (const auto& other : chain.find_others(key)) found.push_back(other->event_name);
    return found;
  };
  CHECK(names(first) == std::vector<std::string>{"trace", "file"});
  CHECK(names(second) == std::vector<std::string>{"later in the trace", "file"});
  CHECK(names(third) == std::vector<std::string>{"file", "other file"});
  CHECK(chain.find_others({{}, 4, 0, false}).empty());
  // A chain inside a chain is one source.
  SchemaChain outer;
  outer.append(std::make_shared<SchemaChain>(chain));
  CHECK(outer.find(second)->event_name == "later in the trace");
  CHECK(outer.find_others(second).size() == 1);
}

}  // namespace coldtrace::tracefile
