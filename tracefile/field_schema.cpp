#include "tracefile/field_schema.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace coldtrace::tracefile {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ' ' || c == '.' || c == '-';
}

}  // namespace

void make_names_unique(std::vector<FieldSchema>& fields) {
  std::set<std::string> names;
  for (auto& field : fields) {
    if (field.name.empty()) field.name.push_back('_');
    const auto base = field.name;
    for (unsigned number = 2; !names.insert(field.name).second; ++number)
      field.name = fmt::format("{}_{}", base, number);
    field.plain_name = std::all_of(field.name.begin(), field.name.end(), is_plain);
    make_names_unique(field.members);
  }
}

}  // namespace coldtrace::tracefile
