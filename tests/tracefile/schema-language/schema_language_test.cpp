#include <numeric>

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "coldtrace/tracefile/schema-language/built_in_schemas.hpp"
#include "coldtrace/tracefile/schema-language/schema_compiler.hpp"
#include "coldtrace/tracefile/schema-language/schema_layout.hpp"
#include "coldtrace/tracefile/schema-language/schema_parser.hpp"
#include "fixtures/builders/value_of.hpp"
#include "tests/tracefile/schema-language/random_schemas.hpp"

using namespace coldtrace;
using namespace coldtrace::tracefile;

namespace {

constexpr std::string_view head = "schema s {01234567-89ab-cdef-0123-456789abcdef};\n";

std::string error_of(std::string_view body) {
  const auto schemas = parse_schemas(std::string{head} + std::string{body});
  return schemas ? "none" : to_string(schemas.error());
}

// Keeps the top-level integers that a decoder shows.
class Numbers final : public FieldVisitor {
 public:
  void value(const FieldSchema& field, const Value& value) override {
    if (depth_ == 0) seen.emplace_back(field.name, value);
  }
  void begin_array(const FieldSchema&) override { ++depth_; }
  void end_array() override { --depth_; }
  void begin_structure(const FieldSchema&) override { ++depth_; }
  void end_structure() override { --depth_; }

  std::vector<std::pair<std::string, Value>> seen;

 private:
  int depth_ = 0;
};

}  // namespace

TEST_CASE("a schema text is read as it is written", "[schema-language]") {
  const auto schemas = parse_schemas(R"(
# a comment
schema wmk {2b9f0a86-54c7-4e3d-8f62-0d8b7a935e02} "kernel"; # and another
enum Reason : u8 "why" { Executive = 0 "busy", UserRequest = 6, }
flags Bits : u16 { A = 0x1, B = 2 }
struct Name { u16 length; utf16 text[ length ]; }
event Switch = 0x0101 version 2 "a switch" {
  u32 thread is thread "old";
  enum Reason reason;
  flags Bits bits[3];
  struct Name names[2];
  u64 spent unit "cycles" "until now";
  bytes rest[];
}
event Nothing = 7 {}
)");
  REQUIRE(schemas);
  REQUIRE(schemas->size() == 1);
  const auto& schema = schemas->front();
  CHECK(schema.name == "wmk");
  CHECK(core::to_string(schema.guid) == "2b9f0a86-54c7-4e3d-8f62-0d8b7a935e02");
  CHECK(schema.enums.at(0).entries.at(0).description == "busy");
  CHECK(schema.enums.at(1).bits);
  const auto& event = schema.events.at(0);
  CHECK(event.id == 0x101);
  CHECK(event.version == 2);
  CHECK(event.fields.at(0).meaning == FieldMeaning::thread);
  CHECK(event.fields.at(2).amount.number == 3);
  CHECK(event.fields.at(4).unit == "cycles");
  CHECK(event.fields.at(5).amount.kind == FieldAmount::Kind::rest);
  CHECK(schema.structs.at(0).fields.at(1).amount.counter == "length");
  CHECK(schema.events.at(1).fields.empty());
}

TEST_CASE("errors of a schema text say where and what", "[schema-language]") {
  struct Row {
    const char* body;
    const char* error;
  };
  // The head is line 1.
  const auto row = GENERATE(values<Row>({
      {"event X = 1 { u8 a }", "2:20: expected ';'"},
      {"event X 1 {}", "2:9: expected '='"},
      {"event X = 0x10000 {}", "2:11: 0x10000 is more than 65535"},
      {"event X = 1 { u9 a; }", "2:15: expected a type or '}'"},
      {"event X = 1 {\n  u8 a;\n  u16 a;\n}", "4:7: a second field a"},
      {"event X = 1 {}\nevent Y = 1 {}", "3:11: 0x0001 is X of schema s"},
      {"event X = 1 {}\nevent X = 1 {}", "3:11: a second X of version 0"},
      {"event X = 1 {}\nevent X = 2 {}", "3:7: X is 0x0001 as well"},
      {"event X = 1 { enum E e; }", "2:20: no enum E before this"},
      {"flags E : u8 { A = 1 }\nevent X = 1 { enum E e; }", "3:20: no enum E before this"},
      {"struct S { struct S s; }", "2:19: no struct S before this"},
      {"struct S { u8 a[]; }", "2:16: a struct cannot have all the rest"},
      {"struct S {}", "2:8: S has no field"},
      {"enum E : u8 { A = 256 }", "2:19: 256 is more than 255"},
      {"enum E : u8 { A = 1, B = 0x1 }", "2:26: 0x1 has another name already"},
      {"enum E : i8 { }", "2:10: expected 'u8', 'u16', 'u32' or 'u64'"},
      {"enum E : u8 { }", "2:6: E has no value"},
      {"flags E : u8 { A = 0 }", "2:20: 0 is not a bit"},
      {"event X = 1 { bytes b; }", "2:21: bytes need an amount, as in NAME[16]"},
      {"event X = 1 { u8 a[0]; }", "2:20: an amount of 0"},
      {"event X = 1 { u8 a[n]; u8 n; }", "2:20: no field n before this"},
      {"event X = 1 { i8 n; u8 a[n]; }", "2:26: n is not one unsigned integer"},
      {"event X = 1 { u8 a[]; u8 b; }", "2:23: a has all the rest: no field can follow"},
      {"event X = 1 { counted_ansi a[2]; }", "2:29: counted_ansi has its own count"},
      {"event X = 1 { u16 a is thread; }", "2:24: thread must be one u32"},
      {"event X = 1 { ansi t; u32 a is thread; }",
       "2:32: thread must be before fields whose size depends on the data"},
      {"struct S { u32 a is thread; }", "2:21: this is the event's own and cannot be in a struct"},
      {"event X = 1 { u8 a is funny; }", "2:23: funny is not a meaning"},
      {"event X = 1 { u8 a[40000]; u8 b[40000]; }",
       "2:31: 80000 bytes: an event has at most 65535"},
      {"event X = 1 { u8 a \"open; }", "2:20: expected ';'"},
      {"evil", "2:1: expected 'enum', 'flags', 'struct', 'event' or 'schema'"},
      {"schema t {01234567-89ab-cdef-0123-456789abcdef};", "2:10: schema s has the same GUID"},
      {"schema t {0123};", "2:10: this is not a GUID like {01234567-89ab-cdef-0123-456789abcdef}"},
  }));
  CAPTURE(row.body);
  CHECK(error_of(row.body) == row.error);
}

TEST_CASE("a text without a schema is refused", "[schema-language]") {
  for (const auto* text : {"", "# nothing", "event X = 1 {}"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_schemas(text));
  }
}

TEST_CASE("the built-in schemas are correct and unlike each other", "[schema-language]") {
  std::string all;
  for (const auto& schema : built_in_schemas()) {
    const auto read = parse_schemas(schema.text);
    CAPTURE(schema.name, read ? "" : to_string(read.error()));
    REQUIRE(read);
    CHECK(read->front().name == schema.name);
    all += schema.text;
  }
  const auto together = parse_schemas(all);
  CAPTURE(together ? "" : to_string(together.error()));
  REQUIRE(together);
  CHECK(fixtures::value_of(parse_schemas(to_text(*together))) == *together);
}

TEST_CASE("1,000 random schemas are printed and read back", "[schema-language]") {
  for (u64 seed = 0; seed < 1000; ++seed) {
    const auto schemas = test::RandomSchemas{seed}.make();
    const auto text = to_text(schemas);
    const auto read = parse_schemas(text);
    CAPTURE(seed, text, read ? "" : to_string(read.error()));
    REQUIRE(read);
    REQUIRE(*read == schemas);
  }
}

TEST_CASE("the decoder finds fields where the layout says they are", "[schema-language]") {
  std::vector<std::byte> data(70'000);
  std::mt19937_64 random{7};
  for (auto& byte : data) byte = static_cast<std::byte>(random());
  std::size_t compared = 0;
  for (u64 seed = 0; seed < 300; ++seed) {
    const auto schemas = test::RandomSchemas{seed}.make();
    for (const unsigned pointer_size : {4U, 8U}) {
      const CompiledSchemas compiled{schemas, pointer_size};
      for (const auto& schema : schemas)
        for (const auto& event : schema.events) {
          const auto* known = compiled.find_event(event.id, event.version);
          REQUIRE(known);
          const auto layout = compute_layout(schema, event.fields, pointer_size);
          Numbers numbers;
          const auto result = decode_fields(*known->schema, data, pointer_size, numbers);
          if (layout.size) CHECK(result.consumed == *layout.size);
          for (std::size_t i = 0; i < event.fields.size(); ++i) {
            const auto& place = layout.fields[i];
            if (!place.offset || !place.size) continue;
            for (const auto& [name, value] : numbers.seen) {
              if (name != event.fields[i].name || value.size == 0) continue;
              u64 expected = 0;
              std::memcpy(&expected, &data[*place.offset], *place.size);
              const u64 mask = *place.size == 8 ? ~u64{0} : (u64{1} << 8 * *place.size) - 1;
              CHECK((value.number & mask) == expected);
              CHECK(value.size == *place.size);
              ++compared;
            }
          }
        }
    }
  }
  CHECK(compared > 500);
}
