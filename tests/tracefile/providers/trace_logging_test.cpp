#include "tracefile/providers/trace_logging.hpp"

#include <catch2/catch.hpp>

#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

using fixtures::ByteWriter;

ByteWriter trace_logging_schema() {
  ByteWriter out;
  out.write_u16(0).write_u8(0).write_text("Event").write_u8(0);
  const auto field = [&](std::string_view name, u8 type) {
    out.write_text(name).write_u8(0).write_u8(type);
  };
  field("text", 1);
  field("bytes", 14);
  field("signed", 7);
  field("list", 8 | 0x40);
  field("pair", 4 | 0x20);
  out.write_u16(2);
  out.write_text("inner").write_u8(0).write_u8(24 | 0x80).write_u8(2);
  field("a", 10);
  out.write_text("b").write_u8(0).write_u8(6 | 0x80).write_u8(7);
  field("last", 13);
  out.patch(0, static_cast<u16>(out.size()));
  return out;
}

// One field of an event.
EventSchema one_field(u8 in, u8 out) {
  ByteWriter item;
  item.write_u16(0).write_u8(0).write_text("E").write_u8(0).write_text("x").write_u8(0);
  item.write_u8(in | 0x80U).write_u8(out).patch(0, static_cast<u16>(item.size()));
  const auto schema = read_trace_logging_schema(item.view(), "", 0);
  REQUIRE(schema);
  return *schema;
}

}  // namespace

TEST_CASE("a TraceLogging schema gives arrays, counts and nested structures") {
  const auto item = trace_logging_schema();
  const auto schema = read_trace_logging_schema(item.view(), "Provider", 0);
  REQUIRE(schema);
  CHECK(schema->event_name == "Event");
  ByteWriter payload;
  payload.write_bytes(fixtures::utf16z("hi").view()).write_u16(2).write_u16(0xbbaa);
  payload.write_u32(0xffffff34).write_u16(3).write_u32(1).write_u32(2).write_u32(3);
  payload.write_u8(8).write_u8(9).write_u64(5).write_u16(0x5000).write_u32(1);
  const auto fields = decode(*schema, payload.view());
  CHECK(fields.at("text") == "hi");
  CHECK(fields.at("bytes") == "aabb");
  CHECK(fields.at("signed") == "-204");
  CHECK(fields.at("list") == "1 2 3");
  CHECK(fields.at("pair") == "8 9");
  CHECK(fields.at("inner.a") == "5");
  CHECK(fields.at("inner.b") == "80");
  CHECK(fields.at("last") == "true");
  for (std::size_t cut = 0; cut < payload.size(); ++cut) {
    FieldTexts texts{system_clock};
    CHECK(decode_fields(*schema, payload.view().first(cut), 8, texts).decoded == Decoded::partial);
  }
}

TEST_CASE("every cut of a TraceLogging schema is an error inside it or has fewer fields") {
  const auto item = trace_logging_schema();
  const auto whole = read_trace_logging_schema(item.view(), "", 0);
  for (std::size_t cut = 0; cut < item.size(); ++cut) {
    ByteWriter part;
    part.write_bytes(item.view().first(cut));
    if (cut >= 2) part.patch(0, static_cast<u16>(cut));
    const auto schema = read_trace_logging_schema(part.view(), "", 0x40);
    if (schema) {
      CHECK(schema->fields.size() < whole->fields.size());
    } else {
      CHECK(schema.error().offset <= 0x40 + cut);
    }
  }
}

TEST_CASE("a TraceLogging structure may not nest without end, nor a type be unknown") {
  ByteWriter nested;
  nested.write_u16(0).write_u8(0).write_text("E").write_u8(0);
  for (int i = 0; i < 40; ++i) nested.write_text("s").write_u8(0).write_u8(24 | 0x80).write_u8(1);
  nested.patch(0, static_cast<u16>(nested.size()));
  CHECK_FALSE(read_trace_logging_schema(nested.view(), "", 0));
  ByteWriter unknown;
  unknown.write_u16(0).write_u8(0).write_text("E").write_u8(0).write_text("x").write_u8(0);
  unknown.write_u8(30).patch(0, static_cast<u16>(unknown.size()));
  CHECK_FALSE(read_trace_logging_schema(unknown.view(), "", 0));
}

TEST_CASE("a field with custom serialisation is the bytes it counts, and the next ones follow") {
  ByteWriter item;
  item.write_u16(0).write_u8(0).write_text("E").write_u8(0).write_text("a").write_u8(0).write_u8(4);
  // Protocol 31, which is not a type, with three bytes about the type.
  item.write_text("b").write_u8(0).write_u8(31 | 0x60).write_u16(3).write_text("abc");
  item.write_text("c").write_u8(0).write_u8(8 | 0x60 | 0x80).write_u8(0x80).write_u8(1);
  item.write_u16(0).write_text("d").write_u8(0).write_u8(6);
  item.patch(0, static_cast<u16>(item.size()));
  const auto schema = read_trace_logging_schema(item.view(), "", 0);
  REQUIRE(schema);
  ByteWriter payload;
  payload.write_u8(7).write_u16(2).write_u16(0xbbaa).write_u16(0).write_u16(9);
  const auto fields = decode(*schema, payload.view());
  CHECK(fields ==
        std::map<std::string, std::string>{{"a", "7"}, {"b", "aabb"}, {"c", ""}, {"d", "9"}});
  for (std::size_t cut = 0; cut < payload.size(); ++cut)
    decode(*schema, payload.view().first(cut), Decoded::partial);
}

// Source of the numbers: TlgOut_t of TraceLoggingProvider.h, which is not that of TDH.
TEST_CASE("TraceLogging output types have numbers of their own") {
  struct Row {
    u8 in, out;
    u64 number;
    std::size_t size;
    const char* text;
  };
  const auto row = GENERATE(values<Row>({
      {4, 3, 1, 1, "true"},
      {6, 4, 0xab, 2, "0xab"},
      {6, 7, 0x5000, 2, "80"},
      {8, 8, 0x0100007f, 4, "127.0.0.1"},
      {8, 14, 0xc0000005, 4, "0xc0000005"},
      {7, 15, 0x80070005, 4, "0x80070005"},
      {9, 16, 133'536'816'000'000'000, 8, "2024-02-29T12:00:00.0000000Z"},
      {20, 17, 0xffffffff, 4, "-1"},
      {21, 18, 12, 8, "12"},
      {7, 18, 0xffffffff, 4, "4294967295"},
      {8, 99, 5, 4, "5"},
  }));
  CAPTURE(int{row.in}, int{row.out});
  ByteWriter payload;
  for (std::size_t i = 0; i < row.size; ++i) payload.write_u8(row.number >> (8 * i) & 0xffU);
  CHECK(decode(one_field(row.in, row.out), payload.view()).at("x") == row.text);
}

}  // namespace coldtrace::tracefile
