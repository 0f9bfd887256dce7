#pragma once

#include "coldtrace/where/where_expression.hpp"

namespace coldtrace::where {

// Builds an expression from what the parser reports, in the order of the text. Everything that the
// grammar leaves open is checked here.
class WhereBuilder {
 public:
  struct Error {
    const char* where;
    std::string message;
  };

  // `vocabulary` must outlive it.
  explicit WhereBuilder(const WhereVocabulary& vocabulary) : vocabulary_{vocabulary} {}

  // Parentheses and `not`.
  void enter(std::string_view text);
  void leave(std::string_view);
  void negate(std::string_view);

  // Joins the last two expressions into one.
  void join_all(std::string_view) { join(WhereNode::Kind::all); }
  void join_any(std::string_view) { join(WhereNode::Kind::any); }

  void begin_test(std::string_view path);
  void set_relation(std::string_view text);
  void add_number(std::string_view text);
  void add_text(std::string_view text);
  void refuse_open_text(std::string_view quote);
  void add_guid(std::string_view text);
  void add_time(std::string_view text);
  void add_boolean(std::string_view text);
  void begin_range(std::string_view) { in_range_ = true; }
  void end_test(std::string_view);

  WhereExpression take();

 private:
  void join(WhereNode::Kind kind);
  void add(std::string_view text, Literal literal);
  void check_type(const char* where, const Literal& literal) const;

  const WhereVocabulary& vocabulary_;
  std::vector<WhereTest> tests_;
  std::vector<WhereNode> nodes_;  // expressions that are not yet part of another
  WhereTest test_;
  bool in_range_ = false;
  unsigned depth_ = 0;
};

}  // namespace coldtrace::where
