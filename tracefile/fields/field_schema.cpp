#include "coldtrace/tracefile/fields/field_schema.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace coldtrace::tracefile {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ' ' || c == '.' || c == '-';
}

// The names that a field of this name takes.
std::vector<std::string> names_of(const FieldSchema& field) {
  std::vector<std::string> names{field.name};
  const auto unit = text_unit(field.in, field.out);
  if (unit == 2 || field.in == InType::text) names.push_back(field.name + "_utf16");
  if (unit == 1 || field.in == InType::text) names.push_back(field.name + "_bytes");
  return names;
}

}  // namespace

void ValueMap::sort() {
  std::ranges::stable_sort(entries, {}, &Entry::value);
}

bool is_character(InType in, OutType out) {
  switch (in) {
    case InType::utf16_char:
    case InType::ansi_char:
      return true;
    case InType::i8:
    case InType::u8:
    case InType::i16:
    case InType::u16:
      return out == OutType::string;
    default:
      return false;
  }
}

unsigned text_unit(InType in, OutType out) {
  switch (in) {
    case InType::utf16:
    case InType::counted_utf16:
    case InType::tdh_counted_utf16:
    case InType::reversed_counted_utf16:
    case InType::unterminated_utf16:
    case InType::lznt1_utf16:
    case InType::utf16_char:
      return 2;
    case InType::ansi:
    case InType::counted_ansi:
    case InType::tdh_counted_ansi:
    case InType::reversed_counted_ansi:
    case InType::unterminated_ansi:
    case InType::ansi_char:
      return 1;
    case InType::i8:
    case InType::u8:
      return out == OutType::string ? 1 : 0;
    case InType::i16:
    case InType::u16:
      return out == OutType::string ? 2 : 0;
    default:
      return 0;
  }
}

void make_names_unique(std::vector<FieldSchema>& fields) {
  std::set<std::string> taken;
  std::map<std::string, unsigned> next;  // number to try, of each name that was taken
  for (auto& field : fields) {
    if (field.name.empty()) field.name.push_back('_');
    const auto base = field.name;
    auto names = names_of(field);
    while (std::any_of(names.begin(), names.end(),
                       [&](const auto& name) { return taken.contains(name); })) {
      field.name = fmt::format("{}_{}", base, next.try_emplace(base, 2).first->second++);
      names = names_of(field);
    }
    taken.insert(names.begin(), names.end());
    field.plain_name = std::all_of(field.name.begin(), field.name.end(), is_plain);
    make_names_unique(field.members);
  }
}

}  // namespace coldtrace::tracefile
