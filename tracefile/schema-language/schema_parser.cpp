#include "coldtrace/tracefile/schema-language/schema_parser.hpp"

#include <fmt/format.h>

#include "coldtrace/core/grammar.hpp"
#include "coldtrace/core/result.hpp"
#include "tracefile/schema-language/schema_builder.hpp"

namespace coldtrace::tracefile {
namespace {

using namespace core::grammar;

using B = SchemaBuilder;

const auto word_rest = alnum | '_';
const auto word_text = (alpha | '_') >> *word_rest;
const auto number = raw[lexeme[(("0x" >> +xdigit) | +digit) >> !word_rest]];
const auto quoted = raw[lexeme['"' >> *(char_ - '"' - eol) >> '"']];
const auto guid = raw[lexeme['{' >> +(xdigit | '-') >> '}']];

auto keyword(const char* text) {
  return raw[lexeme[lit(text) >> !word_rest]];
}

template <class Tag, class Action>
auto name_rule(Action action) {
  return named<Tag>("a name", raw[lexeme[word_text]][action]);
}
template <class Tag, class Action>
auto number_rule(Action action) {
  return named<Tag>("a number", number[action]);
}
template <class Tag>
auto sign(const char* name, char c) {
  return named<Tag>(name, lit(c));
}

const auto open = sign<struct open_tag>("'{'", '{');
const auto close = raw[lit('}')][call<&B::end_declaration>];
const auto description = quoted[call<&B::describe>];

// --- enums and flags

const auto base = named<struct base_tag>(
    "'u8', 'u16', 'u32' or 'u64'",
    raw[lexeme[(lit("u8") | "u16" | "u32" | "u64") >> !word_rest]][call<&B::set_base>]);
const auto entry =
    raw[lexeme[word_text]][call<&B::add_entry>] >
    sign<struct equals_tag>("'='", '=') > number_rule<struct value_tag>(call<&B::set_entry_value>) >
    -quoted[call<&B::describe_entry>] > named<struct after_entry_tag>("',' or '}'",
                                                                      lit(',') | &lit('}'));
const auto values_body = sign<struct colon_tag>("':'", ':') > base > -description > open > *entry >
                         named<struct end_values_tag>("a name or '}'", close);
const auto enumeration = keyword("enum") >
                         name_rule<struct enum_tag>(call<&B::begin_enum>) > values_body;
const auto flags = keyword("flags") >
                   name_rule<struct flags_tag>(call<&B::begin_flags>) > values_body;

// --- fields

const auto plain_type =
    lexeme[(lit("u8") | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "bool32" | "bool" |
            "pointer" | "size" | "guid" | "sid" | "filetime" | "ansi" | "utf16" | "counted_ansi" |
            "counted_utf16" | "bytes" | "counted_bytes") >>
           !word_rest];
const auto named_type = lexeme[(lit("enum") | "flags" | "struct") >> !word_rest];
const auto type =
    raw[plain_type][call<&B::begin_field>] |
    (raw[named_type][call<&B::begin_field>] > name_rule<struct type_tag>(call<&B::set_type_name>));
const auto amount_text = '[' >> *space >> -((+alnum | '_') >> *word_rest) >> *space >> ']';
const auto amount = &lit('[') >
                    named<struct amount_tag>("an amount like [4], [NAME] or []",
                                             raw[lexeme[amount_text]][call<&B::set_amount>]);
const auto meaning = keyword("is") > name_rule<struct meaning_tag>(call<&B::set_meaning>);
const auto unit = keyword("unit") >
                  named<struct unit_tag>("text in quotes", quoted[call<&B::set_unit>]);
const auto field = type > name_rule<struct field_tag>(call<&B::set_field_name>) > -amount > -meaning
                   > -unit > -quoted[call<&B::describe_field>] >
                   named<struct end_field_tag>("';'", raw[lit(';')][call<&B::end_field>]);
const auto fields = *field > named<struct end_fields_tag>("a type or '}'", close);

// --- declarations

const auto structure = keyword("struct") > name_rule<struct struct_tag>(call<&B::begin_struct>) >
                       -description > open > fields;
const auto event =
    keyword("event") >
    name_rule<struct event_tag>(call<&B::begin_event>) > sign<struct id_equals_tag>("'='", '=') >
    number_rule<struct id_tag>(call<&B::set_id>) >
    -(keyword("version") > number_rule<struct version_tag>(call<&B::set_version>)) > -description
    > named<struct event_open_tag>("'{'", raw[lit('{')][call<&B::end_event_head>]) > fields;
const auto schema = keyword("schema") > name_rule<struct schema_tag>(call<&B::begin_schema>) >
                    named<struct guid_tag>("a GUID in braces", guid[call<&B::set_guid>]) >
                    -description > sign<struct semicolon_tag>("';'", ';') >
                    *(enumeration | flags | structure | event);
const auto file = x3::eps > named<struct first_tag>("'schema'", &keyword("schema")) > +schema
                  > named<struct end_tag>("'enum', 'flags', 'struct', 'event' or 'schema'", eoi);

}  // namespace

core::Expected<std::vector<Schema>, core::TextError> parse_schemas(std::string_view text) {
  if (text.size() > largest_schema_text)
    return core::fail(core::TextError{
        1, 1, fmt::format("the text is longer than {} bytes", largest_schema_text)});
  SchemaBuilder builder;
  if (auto error = core::grammar::parse(text, file, builder)) return core::fail(std::move(*error));
  return builder.take();
}

}  // namespace coldtrace::tracefile
