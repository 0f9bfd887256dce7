#include "tracefile/field_schema.hpp"

#include <set>

#include <fmt/format.h>

namespace coldtrace::tracefile {

void make_names_unique(std::vector<FieldSchema>& fields) {
  std::set<std::string> names;
  for (auto& field : fields) {
    if (field.name.empty()) field.name.push_back('_');
    const auto base = field.name;
    for (unsigned number = 2; !names.insert(field.name).second; ++number)
      field.name = fmt::format("{}_{}", base, number);
    make_names_unique(field.members);
  }
}

}  // namespace coldtrace::tracefile
