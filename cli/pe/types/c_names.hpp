#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "coldtrace/pdb/member_regions.hpp"

namespace coldtrace::cli {

// C identifiers for the names of types and enumerators: no keywords, no duplicates.
class CNames {
 public:
  explicit CNames(const pe::TypeTable& table) : table_{table} {}

  // "struct _EPROCESS" for the type at an index; "struct unnamed_1d76" if it has no name.
  std::string tag_of(u32 index);
  // Without the keyword.
  const std::string& plain_name(u32 index);
  std::string enumerator(std::string_view name, u32 enumeration);

 private:
  const pe::TypeTable& table_;
  std::map<u32, std::string> tags_;  // by index
  std::set<std::string> taken_;
  std::map<std::string, unsigned> enumerators_;
};

// The same for the members of one structure.
class MemberNames {
 public:
  explicit MemberNames(const std::vector<pe::PlacedMember>& members);

  const std::string& of(std::size_t number) const { return names_[number]; }

 private:
  std::vector<std::string> names_;
};

}  // namespace coldtrace::cli
