#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_tokens.hpp"

namespace coldtrace::syscall_map {

// What a member list requests of a kernel, as docs/languages/member-lists.md describes it.

// The limits of the language: for one file, and for lists together.
inline constexpr std::size_t largest_member_list = 1 << 20;
inline constexpr std::size_t longest_member_name = 1024;
inline constexpr std::size_t most_members = 1 << 14;
inline constexpr std::size_t most_member_alternatives = 64;

// What a request asks for, by the form of its expression.
enum class MemberKind : u8 {
  offset,    // _EPROCESS.Token: bytes from the start of the structure
  bit,       // the lowest bit of a bit field, from the start of the integer at its offset
  size,      // of a type or of a member, in bytes
  global,    // the RVA of a variable
  function,  // the RVA of code
  constant,  // the number of an enumerator
};

[[nodiscard]] std::string_view to_string(MemberKind kind);

// A line of a member list.
struct MemberRequest {
  std::string name;  // its name in tables
  MemberKind kind = MemberKind::offset;
  std::vector<std::string> alternatives;  // the first that the build has is used
  bool optional = false;                  // not every build has it

  bool operator==(const MemberRequest&) const = default;
};

// Splits "_EPROCESS.Token" into a structure and a path in it; without a dot, the path is empty.
struct MemberExpression {
  std::string_view type;
  std::string_view path;
};
[[nodiscard]] MemberExpression split_member(std::string_view text);

// The contents of one file: requests, and the names of built-in lists, in order.
struct MemberListFile {
  struct Use {
    std::string list;
    core::TextPlace place;
  };
  struct Request {
    MemberRequest member;
    core::TextPlace place;
  };
  std::vector<std::variant<Request, Use>> statements;
};

// Reads one file; the first error ends it. Does not check whether the lists that it uses exist.
core::Expected<MemberListFile, core::TextError> parse_member_list(std::string_view text);

// The names of the built-in lists, sorted; the text of one, or nothing.
[[nodiscard]] std::span<const std::string_view> built_in_member_lists();
[[nodiscard]] std::optional<std::string_view> find_built_in_member_list(std::string_view name);

// A member list to parse.
struct MemberListSource {
  std::string path;  // its name in messages
  std::string text;
};

// The place of an error in a member list.
struct MemberListError {
  std::string path;
  core::TextError error;
};

// "my.members:3:14: expected a name"
[[nodiscard]] std::string to_string(const MemberListError& error);

// The requests of all sources, each name once, in order of first appearance. A member that is
// optional in one and not in another is not optional. It is an error if two use one name for
// different things.
core::Expected<std::vector<MemberRequest>, MemberListError> read_member_lists(
    std::span<const MemberListSource> sources);

}  // namespace coldtrace::syscall_map
