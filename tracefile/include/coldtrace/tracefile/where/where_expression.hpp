#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_error.hpp"
#include "coldtrace/tracefile/where/where_value.hpp"

namespace coldtrace::tracefile {

// An expression that selects events (docs/languages/where.md), parsed.

// What of an event a comparison looks at: members of its line, in the order of the table in
// where_members.cpp, or what has a path.
enum class WhereMember : u8 {
  time,
  timestamp,
  cpu,
  pid,
  tid,
  process,
  provider,
  provider_guid,
  provider_name,
  name,
  id,
  opcode,
  version,
  level,
  keywords,
  activity,
  stack,
  decoded,
  header_type,
  header_buffer,
  header_offset,
  header_size,
  header_payload_size,
  header_pointer_size,
  header_channel,
  header_task,
  header_kernel_time,
  header_user_time,
  message,
  file,
  field,
  resolved,  // the name that the value of a field stands for
  extended,  // a member of `extended`
};

// A regular expression of RE2, bounded in memory and in time. Safe from several threads.
class WherePattern {
 public:
  // Or what is wrong with it.
  static core::Expected<std::shared_ptr<const WherePattern>, std::string> compile(
      std::string_view text);

  virtual ~WherePattern() = default;
  // Whether a part of `text` matches.
  virtual bool matches(std::string_view text) const = 0;

 protected:
  WherePattern() = default;
  WherePattern(const WherePattern&) = default;
  WherePattern& operator=(const WherePattern&) = default;
  WherePattern(WherePattern&&) = default;
  WherePattern& operator=(WherePattern&&) = default;
};

// One comparison.
struct WhereTest {
  enum class Relation : u8 {
    exists,
    equal,
    unequal,
    less,
    at_most,
    greater,
    at_least,
    any_bit,  // in common
    one_of,
    like,  // a glob
    matches,
  };
  struct Choice {
    Literal first;
    std::optional<Literal> last;  // of a range, included
  };

  WhereMember member = WhereMember::field;
  // Of a field, through structures, also of `resolved`; the name of a member of `extended`.
  std::vector<std::string> path;
  Relation relation = Relation::exists;
  std::vector<Choice> choices;                  // one, or several of one_of
  std::shared_ptr<const WherePattern> pattern;  // of `matches`
  std::string shown;                            // the member as it was written

  // Whether a text of the value takes part.
  bool compares_text() const;
  // Whether the answer, at equality, is for `unequal` to turn around.
  bool turned() const { return relation == Relation::unequal; }
};

// How a value compares; `incomparable` are a number and a text, say.
enum class WhereMatch : u8 { no, yes, incomparable };

// Of `unequal` it is whether they are equal. `start` is that of the session.
WhereMatch match(const WhereTest& test, const Subject& subject,
                 std::optional<core::FileTime> start);

struct WhereNode {
  enum class Kind : u8 { test, negation, all, any };
  Kind kind = Kind::test;
  std::size_t test = 0;  // of `tests`
  std::vector<WhereNode> children;
};

// The truth of an expression as far as it is known.
enum class Truth : u8 { no, yes, unknown };

struct WhereExpression {
  static constexpr std::size_t largest_text = 65'536;  // bytes
  static constexpr unsigned deepest = 64;              // parentheses and `not` inside each other
  static constexpr std::size_t most_tests = 256;

  std::vector<WhereTest> tests;
  WhereNode root;

  // The truth of the whole by that of its tests; `truth_of(test)` is asked for no more of them than
  // are needed, in their order.
  template <class TruthOf>
  Truth evaluate(TruthOf&& truth_of) const {
    return evaluate(root, truth_of);
  }

 private:
  template <class TruthOf>
  static Truth evaluate(const WhereNode& node, TruthOf& truth_of) {
    if (node.kind == WhereNode::Kind::test) return truth_of(node.test);
    if (node.kind == WhereNode::Kind::negation) {
      const auto inner = evaluate(node.children[0], truth_of);
      return inner == Truth::unknown ? inner : inner == Truth::no ? Truth::yes : Truth::no;
    }
    const auto decides = node.kind == WhereNode::Kind::all ? Truth::no : Truth::yes;
    auto whole = decides == Truth::no ? Truth::yes : Truth::no;
    for (const auto& child : node.children) {
      const auto part = evaluate(child, truth_of);
      if (part == decides) return part;
      if (part == Truth::unknown) whole = part;
    }
    return whole;
  }
};

// Reads an expression; the first error ends it.
core::Expected<WhereExpression, core::TextError> parse_where(std::string_view text);

// The names of the members of a line, as an expression has them.
std::span<const std::string_view> where_member_names();

}  // namespace coldtrace::tracefile
