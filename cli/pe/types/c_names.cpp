#include "cli/pe/types/c_names.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/output/c_text.hpp"

namespace coldtrace::cli {
namespace {

// Of C and C++, in the order of bytes.
constexpr std::array<std::string_view, 89> keywords = {"_Alignas",
                                                       "_Alignof",
                                                       "_Atomic",
                                                       "_Bool",
                                                       "_Complex",
                                                       "_Generic",
                                                       "_Imaginary",
                                                       "_Noreturn",
                                                       "_Static_assert",
                                                       "_Thread_local",
                                                       "alignas",
                                                       "alignof",
                                                       "and",
                                                       "and_eq",
                                                       "asm",
                                                       "auto",
                                                       "bitand",
                                                       "bitor",
                                                       "bool",
                                                       "break",
                                                       "case",
                                                       "catch",
                                                       "char",
                                                       "char16_t",
                                                       "char32_t",
                                                       "char8_t",
                                                       "class",
                                                       "compl",
                                                       "const",
                                                       "consteval",
                                                       "constexpr",
                                                       "constinit",
                                                       "continue",
                                                       "decltype",
                                                       "default",
                                                       "delete",
                                                       "do",
                                                       "double",
                                                       "else",
                                                       "enum",
                                                       "explicit",
                                                       "export",
                                                       "extern",
                                                       "false",
                                                       "float",
                                                       "for",
                                                       "friend",
                                                       "goto",
                                                       "if",
                                                       "inline",
                                                       "int",
                                                       "long",
                                                       "mutable",
                                                       "namespace",
                                                       "new",
                                                       "noexcept",
                                                       "not",
                                                       "not_eq",
                                                       "nullptr",
                                                       "operator",
                                                       "or",
                                                       "or_eq",
                                                       "private",
                                                       "protected",
                                                       "public",
                                                       "register",
                                                       "restrict",
                                                       "return",
                                                       "short",
                                                       "signed",
                                                       "sizeof",
                                                       "static",
                                                       "static_assert",
                                                       "struct",
                                                       "switch",
                                                       "template",
                                                       "this",
                                                       "throw",
                                                       "true",
                                                       "try",
                                                       "typedef",
                                                       "typename",
                                                       "union",
                                                       "unsigned",
                                                       "using",
                                                       "virtual",
                                                       "void",
                                                       "volatile",
                                                       "while"};
static_assert(std::is_sorted(keywords.begin(), keywords.end()));

std::string identifier_of(std::string_view name) {
  constexpr std::size_t longest = 200;  // compilers tell fewer apart than PDBs have
  auto identifier = c_identifier(name.substr(0, longest));
  if (identifier.empty() || (identifier[0] >= '0' && identifier[0] <= '9'))
    identifier.insert(0, 1, '_');
  if (std::binary_search(keywords.begin(), keywords.end(), identifier)) identifier += '_';
  return identifier;
}

}  // namespace

const std::string& CNames::plain_name(u32 index) {
  const auto [place, added] = tags_.try_emplace(index);
  if (!added) return place->second;
  const auto head = pe::read_type_head(*table_.find_record(index));
  auto name =
      pe::is_unnamed(head->name) ? fmt::format("unnamed_{:x}", index) : identifier_of(head->name);
  if (!taken_.insert(name).second) {
    name += fmt::format("_{:x}", index);
    taken_.insert(name);
  }
  return place->second = std::move(name);
}

std::string CNames::tag_of(u32 index) {
  const auto& record = *table_.find_record(index);
  const auto aggregate = pe::read_aggregate(record);
  const auto keyword = !aggregate                                     ? "enum"
                       : aggregate->kind == pe::AggregateKind::union_ ? "union"
                                                                      : "struct";
  return fmt::format("{} {}", keyword, plain_name(index));
}

std::string CNames::enumerator(std::string_view name, u32 enumeration) {
  const auto plain = identifier_of(name);
  auto identifier = plain;
  // How often each was taken goes on from where it was, however often one comes.
  while (!enumerators_.emplace(identifier, 0).second)
    identifier = fmt::format("{}_{:x}_{}", plain, enumeration, ++enumerators_[plain]);
  return identifier;
}

MemberNames::MemberNames(const std::vector<pe::PlacedMember>& members) {
  std::set<std::string> taken;
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto name =
        members[i].name.empty() ? fmt::format("base_{}", i) : identifier_of(members[i].name);
    if (!taken.insert(name).second) {
      name += fmt::format("_{}_", i);
      taken.insert(name);
    }
    names_.push_back(std::move(name));
  }
}

}  // namespace coldtrace::cli
