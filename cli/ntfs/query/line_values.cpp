#include "cli/ntfs/query/line_values.hpp"

#include <charconv>

#include <rapidjson/document.h>

#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {
namespace {

using ntfs::FileMember;
using rapidjson::Value;
using See = ntfs::FileValues::See;

std::string_view text_of(const Value& json) {
  return {json.GetString(), json.GetStringLength()};
}

// Also of lines that were written with --int64 string.
std::optional<u64> number_of(const Value& json) {
  if (json.IsUint64()) return json.GetUint64();
  if (!json.IsString()) return std::nullopt;
  const auto text = text_of(json);
  u64 number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Also of years with a sign and five digits, as lines have them: the calendar repeats after 400.
std::optional<core::FileTime> time_of(std::string_view text) {
  if (!text.starts_with('+')) return core::parse_file_time(text);
  constexpr unsigned cycle = 400;
  constexpr u64 ticks_of_cycle = u64{146'097} * 86'400 * 10'000'000;
  const auto dash = text.find('-');
  unsigned year = 0;
  const auto digits = text.substr(1, dash - 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), year);
  if (dash == std::string_view::npos || error != std::errc{} ||
      end != digits.data() + digits.size() || digits.size() != 5)
    return std::nullopt;
  const unsigned cycles = (year - 2000) / cycle;
  const auto time =
      core::parse_file_time(std::to_string(year - cycles * cycle).append(text.substr(dash)));
  if (!time || cycles > (~u64{0} - time->ticks) / ticks_of_cycle) return std::nullopt;
  return core::FileTime{time->ticks + cycles * ticks_of_cycle};
}

void see_value(const Value& json, const where::WhereMemberTypes& types, const See& see) {
  if (types.number) {
    if (const auto number = number_of(json)) see({.number = where::Number::of(*number)});
  } else if (types.boolean) {
    if (json.IsBool()) see({.boolean = json.GetBool()});
  } else if (!json.IsString()) {
    return;
  } else if (types.time) {
    const auto time = time_of(text_of(json));
    if (time && time->ticks != 0) see({.time = time});
  } else if (types.guid) {
    if (const auto guid = core::parse_guid(text_of(json))) see({.guid = guid});
  } else {
    see({.text = text_of(json)});
  }
}

const Value* find(const Value& object, std::string_view name) {
  if (!object.IsObject()) return nullptr;
  const auto found = object.FindMember(
      Value{rapidjson::StringRef(name.data(), static_cast<rapidjson::SizeType>(name.size()))});
  return found == object.MemberEnd() ? nullptr : &found->value;
}

// What a path of names leads to, through the elements of lists.
void follow(const Value& json, std::string_view path, const where::WhereMemberTypes& types,
            const See& see) {
  const auto dot = path.find('.');
  const auto* const member = find(json, path.substr(0, dot));
  if (member == nullptr) return;
  const auto go_on = [&](const Value& value) {
    if (dot == std::string_view::npos)
      see_value(value, types, see);
    else
      follow(value, path.substr(dot + 1), types, see);
  };
  if (!member->IsArray()) return go_on(*member);
  for (const auto& element : member->GetArray()) go_on(element);
}

void number(const std::optional<u64>& value, const See& see) {
  if (value) see({.number = where::Number::of(*value)});
}

}  // namespace

void LineValues::each(FileMember member, const See& see) {
  const auto types = types_of(member);
  switch (member) {
    case FileMember::extension: {
      const auto* const name = find(*line_, "name");
      if (name == nullptr || !name->IsString()) return;
      if (const auto extension = ntfs::extension_of(text_of(*name))) see({.text = extension});
      return;
    }
    case FileMember::created:
    case FileMember::modified:
    case FileMember::changed:
    case FileMember::accessed:
      for (const auto* const set : {"si", "fn", "index"})
        if (const auto* const times = find(*line_, set))
          follow(*times, to_string(member), types, see);
      return;
    case FileMember::partition_number:
      return number(number_, see);
    case FileMember::partition_offset:
      return number(offset_, see);
    default:
      follow(*line_, to_string(member), types, see);
  }
}

bool has_member(const Value& line, FileMember member) {
  switch (member) {
    case FileMember::extension:
    case FileMember::name_utf16:  // only where it is needed
      return find(line, "name") != nullptr;
    case FileMember::created:
    case FileMember::modified:
    case FileMember::changed:
    case FileMember::accessed:
      return find(line, "si") != nullptr && find(line, "fn") != nullptr &&
             find(line, "index") != nullptr;
    case FileMember::partition_number:
    case FileMember::partition_offset:
      return true;
    default: {
      const auto name = to_string(member);
      return find(line, name.substr(0, name.find('.'))) != nullptr;
    }
  }
}

}  // namespace coldtrace::cli
