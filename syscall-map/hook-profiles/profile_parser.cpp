#include "coldtrace/syscall-map/hook-profiles/profile_parser.hpp"

#include "coldtrace/core/grammar.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_tokens.hpp"
#include "syscall-map/hook-profiles/profile_builder.hpp"

namespace coldtrace::syscall_map {
namespace {

using namespace core::grammar;

using B = ProfileBuilder;

// is_profile_name_character
const auto name_start = alnum | char_("_$.?*");
const auto name_rest = name_start | char_("@-");
const auto quoted_text = '"' >> *(char_ - '"' - eol) >> '"';
const auto name = raw[quoted_text | (name_start >> *name_rest)];
const auto group_name = raw[(alpha | '_') >> *(alnum | char_("_.-"))];

auto keyword(const char* text) {
  return lexeme[lit(text) >> !(name_rest | '!')];
}

const auto services =
    !(keyword("include") | keyword("group")) >>
    lexeme[name[call<&B::add_name>] >>
           -('!' > named<struct service_tag>("a name or glob of services after '!'",
                                             name[call<&B::qualify>]))];
const auto group_use = &lit('@') >>
                       raw[lexeme['@' > named<struct used_tag>("the name of a group", group_name)]]
                          [call<&B::add_group_use>];
const auto selection = services | group_use;
const auto rule = (raw[lit('-')][call<&B::leave_out>] >
                   named<struct left_out_tag>("a name, or '@' and a group", selection)) |
                  selection;

const auto group = keyword("group") >
                   named<struct group_tag>("the name of a group",
                                           lexeme[group_name[call<&B::begin_group>]]) >
                   named<struct open_tag>("'{'", lit('{')) > *rule
                   > named<struct close_tag>("a name, '@', '-' or '}'",
                                             raw[lit('}')][call<&B::end_group>]);

const auto include = keyword("include") >
                     named<struct path_tag>("a path in quotes",
                                            raw[lexeme[quoted_text]][call<&B::add_include>]);

// Windows' editors put a byte order mark before UTF-8.
const auto mark = -lit("\xEF\xBB\xBF");
const auto file = (mark >> *(include | group | rule)) >
                  named<struct end_tag>("a name, '@', '-', 'include' or 'group'", eoi);

}  // namespace

core::Expected<ProfileFile, core::TextError> parse_profile(std::string_view text) {
  if (auto error = core::refuse_text(text, largest_profile_file))
    return core::fail(std::move(*error));
  ProfileBuilder builder{text};
  if (auto error = core::grammar::parse(text, file, builder)) return core::fail(std::move(*error));
  return builder.take();
}

}  // namespace coldtrace::syscall_map
