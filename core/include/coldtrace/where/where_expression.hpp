#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_error.hpp"
#include "coldtrace/where/where_value.hpp"
#include "coldtrace/where/where_vocabulary.hpp"

namespace coldtrace::where {

// An expression that selects events, files or other things (docs/languages/where.md), parsed.

// A regular expression of RE2, bounded in memory and in time. Safe from several threads.
class WherePattern {
 public:
  // Or what is wrong with it.
  static core::Expected<std::shared_ptr<const WherePattern>, std::string> compile(
      std::string_view text);

  virtual ~WherePattern() = default;
  // Whether a part of `text` matches.
  [[nodiscard]] virtual bool matches(std::string_view text) const = 0;

 protected:
  WherePattern() = default;
  WherePattern(const WherePattern&) = default;
  WherePattern& operator=(const WherePattern&) = default;
  WherePattern(WherePattern&&) = default;
  WherePattern& operator=(WherePattern&&) = default;
};

// One comparison of a member.
struct WhereTest : NamedMember {
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

  Relation relation = Relation::exists;
  std::vector<Choice> choices;                  // one, or several of one_of
  std::shared_ptr<const WherePattern> pattern;  // of `matches`
  std::string shown;                            // the member as it was written

  // Whether a text of the value takes part.
  [[nodiscard]] bool compares_text() const;
  // Whether the answer, at equality, is for `unequal` to turn around.
  [[nodiscard]] bool turned() const { return relation == Relation::unequal; }
};

// How a value compares; `incomparable` are a number and a text, say.
enum class WhereMatch : u8 { no, yes, incomparable };

// Of `unequal` it is whether they are equal. `start` is what durations count from.
[[nodiscard]] WhereMatch match(const WhereTest& test, const Subject& subject,
                               std::optional<core::FileTime> start);

// A test, or what joins the truths of its children.
struct WhereNode {
  enum class Kind : u8 { test, negation, all, any };
  Kind kind = Kind::test;
  std::size_t test = 0;  // of `tests`
  std::vector<WhereNode> children;
};

// The truth of an expression as far as it is known.
enum class Truth : u8 { no, yes, unknown };

// A parsed expression: its tests, and the tree that joins them.
struct WhereExpression {
  static constexpr std::size_t largest_text = 65'536;  // bytes
  static constexpr unsigned deepest = 64;              // parentheses and `not` inside each other
  static constexpr std::size_t most_tests = 256;

  std::vector<WhereTest> tests;
  WhereNode root;

  // The truth of the whole by that of its tests; `truth_of(test)` is asked for no more of them than
  // are needed, in their order.
  template <class TruthOf>
  [[nodiscard]] Truth evaluate(TruthOf&& truth_of) const {
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

// Reads an expression whose members are those of `vocabulary`; the first error ends it.
core::Expected<WhereExpression, core::TextError> parse_where(std::string_view text,
                                                             const WhereVocabulary& vocabulary);

}  // namespace coldtrace::where
