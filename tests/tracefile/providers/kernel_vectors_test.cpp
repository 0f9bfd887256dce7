#include <catch2/catch.hpp>
#include <rapidjson/document.h>

#include "coldtrace/core/text.hpp"
#include "tests/tracefile/etl/trace_test.hpp"
#include "tracefile/providers/event_layout.hpp"
#include "tracefile/providers/kernel_events.hpp"
#include "tracefile/providers/kernel_values.hpp"

namespace coldtrace::tracefile {
namespace {

std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(digit(text[i]) << 4 | digit(text[i + 1])));
  return bytes;
}

// Raw values by name, as the vectors have them.
class RawFields final : public FieldVisitor {
 public:
  struct Raw {
    Value value;
    std::vector<std::byte> bytes;
  };
  std::map<std::string, std::vector<Raw>> fields;

  void value(const FieldSchema& field, const Value& value) override {
    fields[field.name].push_back({value, {value.bytes.begin(), value.bytes.end()}});
  }
  void begin_array(const FieldSchema&) override {}
  void end_array() override {}
  void begin_structure(const FieldSchema&) override {}
  void end_structure() override {}
};

// Where the vectors use other words than the classes of the kernel.
std::string own_name(const std::string& test, const std::string& name) {
  if (test.rfind("Image", 0) == 0 && test.back() != '0') {
    if (name == "BaseAddress") return "ImageBase";
    if (name == "ModuleSize") return "ImageSize";
    if (name == "ImageCheckSum") return "ImageChecksum";
    if (name == "ImageFileName") return "FileName";
  }
  return name;
}

// Two vectors of 64-bit payloads are labelled 32-bit: both hold a pointer above 4 GiB.
unsigned pointer_size_of(const std::string& test, unsigned labelled) {
  return test == "ImageDCEndV2" || test == "ImageDCEndV3" ? 8 : labelled;
}

void check_scalar(const RawFields::Raw& raw, const rapidjson::Value& expected) {
  if (expected.IsString()) {
    FieldTexts texts{Clock{ClockType::system_time, {0}, 0, {1, 1}}};
    FieldSchema schema;
    auto value = raw.value;
    value.bytes = raw.bytes;
    texts.value(schema, value);
    // The vectors' source has a stand-in for two texts, and only the first line of long ones.
    const std::string_view wanted = expected.GetString();
    if (wanted == "kFilename" || wanted == "filename") return;
    CHECK(texts.fields[""].size() >= wanted.size());
    CHECK(texts.fields[""].substr(0, wanted.size()) == wanted);
    return;
  }
  const auto bits = raw.value.size >= 8 ? ~u64{0} : (u64{1} << raw.value.size * 8U) - 1;
  const auto wanted =
      expected.IsInt64() ? static_cast<u64>(expected.GetInt64()) : expected.GetUint64();
  CHECK((raw.value.number & bits) == (wanted & bits));
}

}  // namespace

TEST_CASE("real kernel payloads give the values that another decoder gives") {
  if (samples_missing()) return;
  const auto bytes =
      core::read_whole_file(sample_path("kernel-payload-vectors.json"), u64{1} << 24);
  REQUIRE(bytes);
  rapidjson::Document document;
  document.Parse(core::to_chars(*bytes).data(), bytes->size());
  REQUIRE_FALSE(document.HasParseError());
  std::size_t checked = 0;
  std::size_t values = 0;
  for (const auto& vector : document["vectors"].GetArray()) {
    const std::string test = vector["test"].GetString();
    CAPTURE(test);
    const auto payload = vector["payload_hex"].IsNull()
                             ? std::vector<std::byte>{}
                             : from_hex(vector["payload_hex"].GetString());
    Event event{};
    event.event_class = EventClass::classic;
    event.provider = *core::parse_guid(vector["provider"].GetString());
    event.opcode = static_cast<u8>(vector["opcode"].GetUint());
    event.version = static_cast<u8>(vector["version"].GetUint());
    event.pointer_size = static_cast<u8>(pointer_size_of(test, vector["pointer_size"].GetUint()));
    const auto known = find_kernel_event(event);
    REQUIRE(known);
    REQUIRE(known->schema);
    RawFields raw;
    const auto result = decode_fields(*known->schema, payload, event.pointer_size, raw);
    // A debugger event carries a byte that no class describes.
    CHECK(result.decoded ==
          (test == "PerfInfoDebuggerEnabledV2" ? Decoded::trailing : Decoded::exact));
    ++checked;
    for (const auto& field : vector["fields"].GetArray()) {
      const std::string type = field["type"].GetString();
      const auto name = own_name(test, field["name"].GetString());
      CAPTURE(name);
      if (type == "nested") continue;
      const auto found = raw.fields.find(name);
      REQUIRE(found != raw.fields.end());
      REQUIRE(found->second.size() == 1);
      check_scalar(found->second.front(), field["value"]);
      ++values;
    }
    for (const auto& array : vector["arrays"].GetObject()) {
      const std::string name = array.name.GetString();
      const auto& elements = raw.fields[name == "sid" ? "UserSID" : "Stack"];
      if (name == "sid") {
        REQUIRE(elements.size() == 1);
        REQUIRE(elements[0].bytes.size() == array.value.Size());
        for (rapidjson::SizeType i = 0; i < array.value.Size(); ++i)
          CHECK(std::to_integer<unsigned>(elements[0].bytes[i]) == array.value[i].GetUint());
      } else {
        REQUIRE(elements.size() == array.value.Size());
        for (rapidjson::SizeType i = 0; i < array.value.Size(); ++i)
          CHECK(elements[i].value.number == array.value[i].GetUint64());
      }
    }
  }
  CHECK(checked == 181);
  CHECK(values > 1000);
}

TEST_CASE("every row of the kernel table is a layout, and no two rows are for the same event") {
  std::map<std::string, int> seen;
  for (const auto& row : kernel_event_rows()) {
    CAPTURE(row.class_name, row.opcodes, row.layout);
    CHECK(parse_event_layout(row.layout, find_kernel_values));
    CHECK(row.first_version <= row.last_version);
    CHECK(row.guid != core::Guid{});
    std::string opcodes{row.opcodes};
    for (std::size_t at = 0; at < opcodes.size();) {
      const auto end = std::min(opcodes.find(", ", at), opcodes.size());
      const auto opcode = opcodes.substr(at, opcodes.find(' ', at) - at);
      for (unsigned version = row.first_version; version <= row.last_version; ++version) {
        const auto key = core::to_string(row.guid) + " " + opcode + " v" + std::to_string(version);
        CAPTURE(key);
        CHECK(++seen[key] == 1);
      }
      at = end + 2;
    }
  }
  CHECK(kernel_event_rows().size() > 200);
}

TEST_CASE("a layout with an unknown word, a missing name or an open brace is none") {
  for (const auto* text :
       {"A:u33", "A", ":u32", "A:u32[B]", "A:{B:u8", "A:u32]", "A:lznt1", "A:u32[2", "A:u8 }"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_event_layout(text, find_kernel_values));
  }
}

}  // namespace coldtrace::tracefile
