#include <fmt/format.h>

#include "coldtrace/core/grammar.hpp"
#include "core/where/where_builder.hpp"

namespace coldtrace::where {
namespace {

using namespace core::grammar;

using B = WhereBuilder;

const auto word_rest = alnum | '_';

auto keyword(const char* text) {
  return raw[lexeme[lit(text) >> !word_rest]];
}

// --- members and fields

const auto reserved =
    (lit("and") | "or" | "not" | "in" | "like" | "matches" | "exists" | "true" | "false") >>
    !word_rest;
const auto word = (alpha | '_') >> *word_rest;
const auto quoted =
    ('"' >> *((char_ - '"') | "\"\"") >> '"') | ('\'' >> *((char_ - '\'') | "''") >> '\'');
const auto open_text = raw[lit('"') | '\''][call<&B::refuse_open_text>];
const auto path = raw[lexeme[!reserved >> word >> *('.' >> (word | quoted | open_text))]];

// --- what they are compared with

const auto digits = +digit;
const auto two = digit >> digit;
const auto date = (('+' >> two >> two >> digit) | (two >> two)) >> '-' >> two >> '-' >> two;
const auto time_of_day = 'T' >> +(digit | ':') >> -('.' >> digits) >> -lit('Z');
const auto exponent = char_("eE") >> -char_("+-") >> digits;
const auto number_text = -char_("+-") >> (((lit("0x") | "0X") >> +xdigit) |
                                          (digits >> -('.' >> digits) >> -exponent >> *alpha)) >>
                         !word_rest;

const auto number = raw[lexeme[number_text]][call<&B::add_number>];
const auto text = raw[lexeme[quoted]][call<&B::add_text>] | open_text;
const auto guid = raw[lexeme['{' >> *(char_ - '}') >> '}']][call<&B::add_guid>];
const auto time = raw[lexeme[date >> -time_of_day >> !word_rest]][call<&B::add_time>];
const auto boolean = raw[lexeme[(lit("true") | "false") >> !word_rest]][call<&B::add_boolean>];
// Rules are declared before they are defined: one that is defined where it is used is a
// copy of its own, and so are all that it uses (24 seconds to compile, against 4).
constexpr const char* a_literal = "a number, text in quotes, a {GUID}, a time, 'true' or 'false'";
const x3::rule<struct literal_tag> literal{a_literal};
const auto literal_def = text | guid | time | number | boolean;

const auto dots = named<struct dots_tag>("'..'", raw[lit("..")][call<&B::begin_range>]);
const auto a_text = named<struct text_tag>("text in quotes", text);
const auto a_number = named<struct number_tag>("a number", number);

const x3::rule<struct choice_tag> choice{a_literal};
const auto choice_def = literal > -(dots > literal);
const auto choices = named<struct choices_tag>(
    "'(' or a range like 1..5",
    ('(' > choice > *(',' > choice) > named<struct close_choices_tag>("',' or ')'", lit(')'))) |
        (literal > dots > literal));

const auto sign = raw[lit("==") | "!=" | "<=" | ">=" | "<" | ">"][call<&B::set_relation>];
const x3::rule<struct comparison_tag> comparison{
    "'==', '!=', '<', '<=', '>', '>=', '&', 'in', 'like' or 'matches'"};
const auto comparison_def = (sign > literal) | (raw[lit('&')][call<&B::set_relation>] > a_number) |
                            (keyword("in")[call<&B::set_relation>] > choices) |
                            (keyword("like")[call<&B::set_relation>] > a_text) |
                            (keyword("matches")[call<&B::set_relation>] > a_text);

const auto end_test = raw[x3::eps][call<&B::end_test>];
const auto test = path[call<&B::begin_test>] > comparison > end_test;
// The relation is told of the member, which comes behind it.
const auto existence = keyword("exists") >
                       named<struct path_tag>("a member or a field",
                                              path[call<&B::begin_test>]) > end_test;

// --- the whole

constexpr const char* operand = "a comparison, 'not', 'exists' or '('";
const x3::rule<struct unary_tag> unary{operand};
const x3::rule<struct negated_tag> negated{operand};
const x3::rule<struct next_of_all_tag> next_of_all{operand};
const x3::rule<struct all_tag> all{operand};
const x3::rule<struct next_of_any_tag> next_of_any{operand};
const x3::rule<struct any_tag> any{operand};

const auto negated_def = raw[unary][call<&B::negate>];
const auto unary_def =
    (keyword("not")[call<&B::enter>] > negated) |
    (raw[lit('(')][call<&B::enter>] > any >
     named<struct close_tag>("'and', 'or' or ')'", raw[lit(')')][call<&B::leave>])) |
    existence | test;
const auto next_of_all_def = raw[unary][call<&B::join_all>];
const auto all_def = unary > *(keyword("and") > next_of_all);
const auto next_of_any_def = raw[all][call<&B::join_any>];
const auto any_def = all > *(keyword("or") > next_of_any);

BOOST_SPIRIT_DEFINE(literal, choice, comparison, negated, unary, next_of_all, all, next_of_any, any)

const auto whole = x3::eps > any > named<struct end_tag>("'and', 'or' or the end", eoi);

}  // namespace

core::Expected<WhereExpression, core::TextError> parse_where(std::string_view expression,
                                                             const WhereVocabulary& vocabulary) {
  if (expression.size() > WhereExpression::largest_text)
    return core::fail(core::TextError{
        1, 1,
        fmt::format("the expression is longer than {} bytes", WhereExpression::largest_text)});
  WhereBuilder builder{vocabulary};
  if (auto error = core::grammar::parse(expression, whole, builder))
    return core::fail(std::move(*error));
  return builder.take();
}

}  // namespace coldtrace::where
