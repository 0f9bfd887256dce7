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

// What a member list asks of a kernel, as docs/languages/member-lists.md describes it.

// The limits of the language: of one file, and of lists together.
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
  std::string name;  // what it is called in tables
  MemberKind kind = MemberKind::offset;
  std::vector<std::string> alternatives;  // the first that the build has counts
  bool optional = false;                  // not every build has it

  bool operator==(const MemberRequest&) const = default;
};

// "_EPROCESS.Token" is a structure and a path in it; without a dot the path is empty.
struct MemberExpression {
  std::string_view type;
  std::string_view path;
};
[[nodiscard]] MemberExpression split_member(std::string_view text);

// What one file says: requests, and the names of built-in lists, in order.
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

// Reads one file; the first error ends it. Whether the lists that it uses are there is not asked.
core::Expected<MemberListFile, core::TextError> parse_member_list(std::string_view text);

// The names of the built-in lists, sorted; the text of one, or nothing.
[[nodiscard]] std::span<const std::string_view> built_in_member_lists();
[[nodiscard]] std::optional<std::string_view> find_built_in_member_list(std::string_view name);

// A member list to parse.
struct MemberListSource {
  std::string path;  // what messages call it
  std::string text;
};

// Where a member list is wrong.
struct MemberListError {
  std::string path;
  core::TextError error;
};

// "my.members:3:14: expected a name"
[[nodiscard]] std::string to_string(const MemberListError& error);

// What all of the sources ask for, each name once, in order of first appearance: a member that one
// of them calls optional and another does not is not optional. That two mean something else by one
// name is an error.
core::Expected<std::vector<MemberRequest>, MemberListError> read_member_lists(
    std::span<const MemberListSource> sources);

}  // namespace coldtrace::syscall_map
