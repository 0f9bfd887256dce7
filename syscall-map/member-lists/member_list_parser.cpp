#include "coldtrace/core/grammar.hpp"
#include "coldtrace/core/text_tokens.hpp"
#include "coldtrace/syscall-map/member_list.hpp"
#include "syscall-map/member-lists/member_list_builder.hpp"

namespace coldtrace::syscall_map {
namespace {

using namespace core::grammar;

using B = MemberListBuilder;

const auto name_rest = alnum | char_("_$?.:~@");
const auto quoted_text = '"' >> *(char_ - '"' - eol) >> '"';

auto keyword(const char* text) {
  return lexeme[lit(text) >> !name_rest];
}

const auto kind_word = keyword("offset") | keyword("bit") | keyword("size") | keyword("global") |
                       keyword("function") | keyword("constant");
const auto bare_name = !(kind_word | keyword("optional")) >> (alnum | char_("_$?")) >> *name_rest;
const auto name = raw[lexeme[quoted_text | bare_name]];
const auto kind = raw[kind_word][call<&B::set_kind>];
const auto alternative = named<struct alternative_tag>("a member or a symbol after '|'",
                                                       name[call<&B::add_alternative>]);
const auto expression =
    named<struct expression_tag>("a member or a symbol after '='", name[call<&B::set_expression>]);
const auto request =
    raw[name[call<&B::begin>] >> -('=' > expression) >> *('|' > alternative)][call<&B::end>];
const auto wanted = (kind > named<struct wanted_tag>("a name", request)) | request;
const auto statement = (raw[keyword("optional")][call<&B::set_optional>] >
                        named<struct optional_tag>("a name, or what kind of thing it is", wanted)) |
                       wanted;
const auto use =
    &lit('@') >
    raw[lexeme['@' > named<struct list_tag>("the name of a built-in list",
                                            alpha >> *(alnum | char_("_-")))]][call<&B::use>];

// Windows' editors put a byte order mark before UTF-8.
const auto mark = -lit("\xEF\xBB\xBF");
const auto file = (mark >> *(use | statement)) >
                  named<struct end_tag>("a name, what kind of thing it is, 'optional' or '@'", eoi);

}  // namespace

core::Expected<MemberListFile, core::TextError> parse_member_list(std::string_view text) {
  if (auto error = core::refuse_text(text, largest_member_list))
    return core::fail(std::move(*error));
  MemberListBuilder builder{text};
  if (auto error = core::grammar::parse(text, file, builder)) return core::fail(std::move(*error));
  return builder.take();
}

}  // namespace coldtrace::syscall_map
