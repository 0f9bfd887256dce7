#include "cli/pe/pe_details_helper.hpp"

#include <array>

#include "cli/command/checked_allocator.hpp"
#include "cli/command/child_process.hpp"
#include "cli/command/helper_path.hpp"
#include "cli/command/parsed_json.hpp"
#include "cli/output/output.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

constexpr ChildLimits limits{
    .address_space = u64{1} << 30, .cpu_seconds = 10, .wall_seconds = 30, .output = 16 << 20};
constexpr unsigned deepest = 64;
constexpr auto parse_flags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;

// Refuses what is deeper than recursion over it may go.
struct DepthCheck : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, DepthCheck> {
  bool StartObject() { return ++depth <= deepest; }
  bool StartArray() { return ++depth <= deepest; }
  bool EndObject(rapidjson::SizeType) { return depth-- > 0; }
  bool EndArray(rapidjson::SizeType) { return depth-- > 0; }
  unsigned depth = 0;
};

bool is_flat(const rapidjson::Value& value) {
  if (value.IsArray()) return false;
  if (!value.IsObject()) return true;
  for (const auto& member : value.GetObject())
    if (member.value.IsObject() || member.value.IsArray()) return false;
  return value.MemberCount() <= 4;
}

// "id 258  build 27412  count 1"
std::string to_line(const rapidjson::Value& value) {
  if (value.IsString()) return printable({value.GetString(), value.GetStringLength()});
  if (value.IsUint64()) return fmt::format("{}", value.GetUint64());
  if (value.IsBool()) return value.GetBool() ? "yes" : "no";
  if (!value.IsObject()) return "none";
  std::string line;
  for (const auto& member : value.GetObject())
    line += fmt::format("{}{} {}", line.empty() ? "" : "  ", printable(member.name.GetString()),
                        to_line(member.value));
  return line;
}

// What is looked at here; the rest is shown as it is.
bool are_signatures(const rapidjson::Value& signatures) {
  if (!signatures.IsArray()) return false;
  for (const auto& signature : signatures.GetArray()) {
    if (!signature.IsObject()) return false;
    for (const auto* const name : {"problem", "digest_algorithm", "digest"})
      if (!signature.HasMember(name) || !(signature[name].IsString() || signature[name].IsNull()))
        return false;
    const auto behind = signature.FindMember("bytes_behind");
    const auto zero = signature.FindMember("behind_is_zero");
    if (behind == signature.MemberEnd() || zero == signature.MemberEnd()) return false;
    if (!(behind->value.IsUint64() && zero->value.IsBool()) &&
        !(behind->value.IsNull() && zero->value.IsNull()))
      return false;
  }
  return true;
}

}  // namespace

std::string details_helper() {
  return find_helper("coldtrace-pe-details");
}

std::optional<std::string> ask_details_helper(core::ByteView image,
                                              const std::vector<pe::Certificate>& certificates,
                                              core::Findings& findings) {
  const auto helper = details_helper();
  if (helper.empty()) {
    findings.warning("details-helper", std::nullopt,
                     "--details needs the program coldtrace-pe-details for signatures and LIEF's "
                     "tables, which {}",
                     is_proc_mounted()
                         ? "is not installed; it is built if LIEF and OpenSSL are present"
                         : "is found through /proc, and /proc is not mounted");
    return std::nullopt;
  }
  std::vector<std::string> places;
  for (const auto& certificate : certificates) {
    places.push_back(std::to_string(certificate.offset));
    places.push_back(std::to_string(certificate.size));
  }
  auto result = run_child(helper, image, limits, places);
  if (!result.problem.empty()) {
    findings.warning("details-helper", std::nullopt, "LIEF could not read the image: {}",
                     result.problem);
    return std::nullopt;
  }
  if (!is_helper_answer(result.output)) {
    findings.warning("details-helper", std::nullopt,
                     "coldtrace-pe-details returned {} bytes that are not the expected JSON",
                     result.output.size());
    return std::nullopt;
  }
  return std::move(result.output);
}

bool is_helper_answer(const std::string& json) {
  rapidjson::StringStream stream{json.c_str()};
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, CheckedAllocator> reader;
  DepthCheck check;
  if (json.find('\0') != std::string::npos || reader.Parse<parse_flags>(stream, check).IsError())
    return false;
  const ParsedJson answer{json};
  const auto& document = answer.value();
  if (!document.IsObject() || document.MemberCount() != 4) return false;
  const auto is_object_or_null = [&](const char* name) {
    return document.HasMember(name) && (document[name].IsObject() || document[name].IsNull());
  };
  return is_object_or_null("tls") && is_object_or_null("resources") &&
         document.HasMember("refused") && document["refused"].IsBool() &&
         document.HasMember("signatures") && are_signatures(document["signatures"]);
}

void write_helper_value(JsonWriter& json, const rapidjson::Value& value) {
  if (value.IsObject()) {
    json.begin_object();
    for (const auto& member : value.GetObject()) {
      json.key({member.name.GetString(), member.name.GetStringLength()});
      write_helper_value(json, member.value);
    }
    json.end_object();
  } else if (value.IsArray()) {
    json.begin_array();
    for (const auto& element : value.GetArray()) write_helper_value(json, element);
    json.end_array();
  } else if (value.IsString()) {
    json.value(std::string_view{value.GetString(), value.GetStringLength()});
  } else if (value.IsUint64()) {
    json.value(value.GetUint64());
  } else if (value.IsBool()) {
    json.value(value.GetBool());
  } else {
    json.value(nullptr);
  }
}

// One line for each value, below its name: the tree as it is, whatever it holds.
void write_helper_tree(Output& output, const rapidjson::Value& value, unsigned depth) {
  const std::string indent(std::size_t{depth} * 2, ' ');
  if (value.IsObject()) {
    for (const auto& member : value.GetObject()) {
      const bool nested = member.value.IsObject() || member.value.IsArray();
      print(output, "{}{}{}", indent, printable(member.name.GetString()), nested ? "\n" : "  ");
      write_helper_tree(output, member.value, depth + 1);
    }
  } else if (value.IsArray()) {
    // Elements that fit on a line are easier to compare below each other.
    for (const auto& element : value.GetArray()) {
      if (!is_flat(element)) {
        print(output, "{}-\n", indent);
        write_helper_tree(output, element, depth + 1);
      } else {
        print(output, "{}{}\n", indent, to_line(element));
      }
    }
  } else {
    print(output, "{}\n", to_line(value));
  }
}

}  // namespace coldtrace::cli
