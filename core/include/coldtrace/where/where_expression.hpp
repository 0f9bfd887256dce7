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

// An RE2 regular expression, bounded in memory and time. Safe to use from several threads.
class WherePattern {
 public:
  // The pattern, or what is wrong with it.
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
    any_bit,  // they have a bit in common
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

  // Whether the text of the value takes part in the comparison.
  [[nodiscard]] bool compares_text() const;
  // Whether the answer of match() is to be negated.
  [[nodiscard]] bool turned() const { return relation == Relation::unequal; }
};

// The answer of a comparison; a number and a text, say, are `incomparable`.
enum class WhereMatch : u8 { no, yes, incomparable };

// For `unequal`, whether the two are equal. `start` is what durations count from.
[[nodiscard]] WhereMatch match(const WhereTest& test, const Subject& subject,
                               std::optional<core::FileTime> start);

// A test, or a combination of its children.
struct WhereNode {
  enum class Kind : u8 { test, negation, all, any };
  Kind kind = Kind::test;
  std::size_t test = 0;  // index into `tests`
  std::vector<WhereNode> children;
};

// The truth of an expression as far as it is known.
enum class Truth : u8 { no, yes, unknown };

// A parsed expression: its tests, and the tree that joins them.
struct WhereExpression {
  static constexpr std::size_t largest_text = 65'536;  // bytes
  static constexpr unsigned deepest = 64;              // nested parentheses and `not`
  static constexpr std::size_t most_tests = 256;

  std::vector<WhereTest> tests;
  WhereNode root;

  // The truth of the whole from that of its tests: calls `truth_of(test)` in order, and for no more
  // tests than needed.
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

// Parses an expression whose members are those of `vocabulary`; the first error ends it.
core::Expected<WhereExpression, core::TextError> parse_where(std::string_view text,
                                                             const WhereVocabulary& vocabulary);

}  // namespace coldtrace::where
