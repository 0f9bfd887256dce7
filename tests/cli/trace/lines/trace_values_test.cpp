#include <array>

#include <catch2/catch.hpp>
#include <rapidjson/document.h>

#include "cli/trace/lines/trace_lines.hpp"
#include "fixtures/builders/strict_json.hpp"

namespace coldtrace {
namespace {

using tracefile::EventSchema;
using tracefile::FieldSchema;
using tracefile::InType;
using tracefile::OutType;
using Rule = FieldSchema::Rule;
using namespace std::string_literals;
using namespace std::string_view_literals;

// A character that a reader of the output could stumble over, in UTF-16 and in bytes, and what is
// to be read where it is shown.
struct Trap {
  const char* name;
  std::string_view unit;
  std::string_view bytes;
  std::string_view unit_shown;
  std::string_view byte_shown;  // of the first byte alone
};

constexpr Trap traps[] = {
    {"a quote", "\"\0"sv, "\"", "\"", "\""},
    {"a backslash", "\\\0"sv, "\\", "\\", "\\"},
    {"a control character", "\x1b\0"sv, "\x1b", "\x1b", "\x1b"},
    {"NUL", "\0\0"sv, "\0"sv, "\0"sv, "\0"sv},
    {"half of a surrogate pair", "\x00\xd8"sv, "\xed\xa0\x80", "\xef\xbf\xbd", "\xef\xbf\xbd"},
    {"a line separator", "\x28\x20"sv, "\xe2\x80\xa8", "\xe2\x80\xa8", "\xef\xbf\xbd"},
};

std::vector<u16> numbers(std::initializer_list<std::pair<u16, u16>> ranges) {
  std::vector<u16> all;
  for (const auto& [first, last] : ranges)
    for (u16 number = first; number <= last; ++number) all.push_back(number);
  return all;
}

const std::vector<u16> in_types = numbers({{0, 25}, {300, 310}, {1000, 1003}});
const std::vector<u16> out_types = numbers({{0, 40}, {1000, 1007}});

// One field in every way in which there can be one or several of it.
std::vector<EventSchema> schemas_of(InType in, OutType out) {
  FieldSchema field;
  field.name = "x\"\\";
  field.in = in;
  field.out = out;
  field.length = in == InType::binary ? FieldSchema::Amount{Rule::fixed, 8} : FieldSchema::Amount{};
  std::vector<EventSchema> schemas;
  const auto add = [&] {
    EventSchema schema;
    schema.provider_name = "a provider, \"quoted\"";
    schema.event_name = "\n=name";
    // The names of its exact bytes are another field's.
    FieldSchema other;
    other.name = field.name + "_utf16";
    other.in = InType::u8;
    schema.fields = {other, field};
    other.name = field.name + "_bytes";
    schema.fields.push_back(other);
    make_names_unique(schema.fields);
    schemas.push_back(std::move(schema));
  };
  add();
  for (const auto count :
       {FieldSchema::Amount{Rule::fixed, 3}, {Rule::prefixed, 0}, {Rule::rest, 0}}) {
    field.count = count;
    add();
  }
  field.count = {};
  field.length = {Rule::fixed, 4};
  add();
  return schemas;
}

class Renderer {
 public:
  explicit Renderer(cli::TraceFormat format) : lines_{context(), {.format = format}} {}

  // A new kind of event for every schema.
  void render(EventSchema schema, core::ByteView payload) {
    event_.event_class = tracefile::EventClass::manifest;
    event_.pointer_size = 8;
    event_.has_time = true;
    event_.id = static_cast<u16>(event_.id + 1);
    if (event_.id == 0) ++event_.version;
    event_.payload = payload;
    tracefile::SchemaKey key{};
    key.id = event_.id;
    key.version = event_.version;
    schemas_.add(key, std::move(schema));
    lines_.append_event(text_, event_);
  }

  u64 cut_names() const { return lines_.cut_names(); }

  std::string_view take() {
    taken_ = std::string{text_.view()};
    text_.clear();
    return taken_;
  }

 private:
  cli::TraceContext context() { return {{schemas_, names_, clock_, {}}}; }

  tracefile::Clock clock_{tracefile::ClockType::system_time, {0}, 0, {1, 1}};
  tracefile::NameTables names_{1 << 16};
  tracefile::SchemaTable schemas_;
  cli::TraceLines lines_;
  tracefile::Event event_{};
  core::TextBuffer text_;
  std::string taken_;
};

// Behind the byte of the first field, with and without the counts that some types begin with.
std::vector<std::vector<std::byte>> payloads_of(const Trap& trap) {
  std::vector<std::vector<std::byte>> payloads;
  const auto add = [&](std::string text, std::string_view character) {
    while (text.size() < 24) text += character;
    const auto bytes = std::as_bytes(std::span{text});
    payloads.emplace_back(bytes.begin(), bytes.end());
  };
  add("\x01\x08\x00\x00\x00"s, trap.unit);
  add("\x01"s, trap.bytes);
  return payloads;
}

// Every type with every character; of the ways in which there can be one or several values of it,
// in JSON each character with every third, which shifts over types and characters.
TEST_CASE("every type shows every character as JSON and CSV that strict readers take") {
  for (const auto& trap : traps) {
    const auto payloads = payloads_of(trap);
    const auto trap_number = static_cast<std::size_t>(&trap - traps);
    for (const auto in : in_types) {
      if (in == static_cast<u16>(InType::structure)) continue;
      Renderer json{cli::TraceFormat::ndjson};
      Renderer csv{cli::TraceFormat::csv};
      for (const auto out : out_types) {
        const auto schemas = schemas_of(static_cast<InType>(in), static_cast<OutType>(out));
        for (std::size_t i = (trap_number + in + out) % 3; i < schemas.size(); i += 3)
          for (const auto& payload : payloads) json.render(schemas[i], payload);
        csv.render(schemas.front(), payloads.front());
      }
      CAPTURE(trap.name, in);
      REQUIRE(fixtures::find_ndjson_error(json.take()) == std::nullopt);
      REQUIRE(fixtures::find_csv_error(cli::trace_csv_header(false) + std::string{csv.take()}) ==
              std::nullopt);
    }
  }
}

// The value of the only field.
std::string shown(InType in, OutType out, FieldSchema::Amount count, std::string_view payload) {
  EventSchema schema;
  FieldSchema field;
  field.name = "x";
  field.in = in;
  field.out = out;
  field.count = count;
  schema.fields = {field};
  make_names_unique(schema.fields);
  Renderer renderer{cli::TraceFormat::ndjson};
  renderer.render(schema, std::as_bytes(std::span{payload}));
  rapidjson::Document line;
  const auto text = renderer.take();
  line.Parse(text.data(), text.size());
  REQUIRE(line.IsObject());
  CHECK(line["decoded"] == "exact");
  const auto& value = line["fields"]["x"];
  REQUIRE(value.IsString());
  return {value.GetString(), value.GetStringLength()};
}

TEST_CASE("a character is the text that it is, and several are one text") {
  struct Row {
    InType in;
    OutType out;
    bool wide;
  };
  const auto row = GENERATE(values<Row>({{InType::i8, OutType::string, false},
                                         {InType::u8, OutType::string, false},
                                         {InType::ansi_char, OutType::none, false},
                                         {InType::i16, OutType::string, true},
                                         {InType::u16, OutType::string, true},
                                         {InType::utf16_char, OutType::none, true}}));
  for (const auto& trap : traps) {
    CAPTURE(trap.name);
    const auto one = row.wide ? trap.unit : trap.bytes.substr(0, 1);
    CHECK(shown(row.in, row.out, {}, one) == (row.wide ? trap.unit_shown : trap.byte_shown));
    // A text of fixed length ends at NUL; three bytes of half a pair are not a character each.
    const auto three = std::string{one} + std::string{one} + std::string{one};
    std::string expected;
    if (trap.name != "NUL"sv)
      for (int i = 0; i < 3; ++i) expected += row.wide ? trap.unit_shown : trap.byte_shown;
    CHECK(shown(row.in, row.out, {Rule::fixed, 3}, three) == expected);
    CHECK(shown(row.in, row.out, {Rule::rest, 0}, three) == expected);
    CHECK(shown(row.in, row.out, {Rule::prefixed, 0}, "\3\0"s + three) == expected);
  }
}

EventSchema schema_of(std::vector<FieldSchema> fields) {
  EventSchema schema;
  schema.provider_name = "Provider";
  schema.event_name = "Event";
  schema.fields = std::move(fields);
  make_names_unique(schema.fields);
  return schema;
}

FieldSchema byte_field(std::string name) {
  FieldSchema field;
  field.name = std::move(name);
  field.in = InType::u8;
  return field;
}

// The event's line, which is bounded by what the event has, and whether names are missing in it.
struct Line {
  rapidjson::Document json;
  std::size_t size;
  bool cut;
};

Line line_of(EventSchema schema, const std::string& payload) {
  Renderer renderer{cli::TraceFormat::ndjson};
  renderer.render(std::move(schema), std::as_bytes(std::span{payload}));
  const auto text = renderer.take();
  Line line{{}, text.size(), renderer.cut_names() == 1};
  line.json.Parse(text.data(), text.size());
  REQUIRE(line.json.IsObject());
  return line;
}

TEST_CASE("names make no line that its event does not justify") {
  const std::string payload(1000, '\1');
  FieldSchema structure;
  structure.name = "structure";
  structure.in = InType::structure;
  structure.count = {Rule::rest, 0};

  structure.members = {byte_field("member")};
  const auto usual = line_of(schema_of({structure}), payload);
  CHECK_FALSE(usual.cut);
  CHECK(usual.json["decoded"] == "exact");
  CHECK(usual.json["fields"]["structure"].Size() == 1000);

  structure.members = {byte_field(std::string(5000, 'n'))};
  const auto long_names = line_of(schema_of({structure}), payload);
  CHECK(long_names.cut);
  CHECK(long_names.json["decoded"] == "partial");
  CHECK(long_names.size < 100 * payload.size());
  // What is not shown as a field is there as bytes.
  const auto shown_fields = long_names.json["fields"]["structure"].Size();
  CHECK(long_names.json["trailing"].GetStringLength() >= 2 * (payload.size() - shown_fields));

  auto named = schema_of({byte_field("field")});
  named.event_name = std::string(1024, 'e');
  CHECK_FALSE(line_of(named, "1").cut);
  named.event_name += 'e';
  named.provider_name = std::string(50000, 'p');
  const auto long_name = line_of(named, "1");
  CHECK(long_name.cut);
  CHECK(long_name.json["name"].IsNull());
  CHECK(long_name.json["provider"]["name"].IsNull());
  CHECK(long_name.json["fields"]["field"].GetUint() == '1');
}

}  // namespace
}  // namespace coldtrace
