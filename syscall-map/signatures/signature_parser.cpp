#include "coldtrace/signatures/signature_parser.hpp"

#include "coldtrace/core/grammar.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_tokens.hpp"
#include "coldtrace/signatures/signature_builder.hpp"

namespace coldtrace::syscall_map {
namespace {

using namespace core::grammar;

using B = SignatureBuilder;

template <Anchor::Kind AnchorKind>
struct AddAnchor {
  template <class Context>
  void operator()(Context& context) const {
    const auto& range = x3::_attr(context);
    x3::get<builder_tag>(context).get().add_anchor(
        AnchorKind,
        std::string_view{range.begin(), static_cast<std::size_t>(range.end() - range.begin())});
  }
};

template <CaptureConstraint::Kind Operator>
struct SetOperator {
  template <class Context>
  void operator()(Context& context) const {
    x3::get<builder_tag>(context).get().set_operator(Operator);
  }
};

const auto word_rest = alnum | '_' | '-' | '.';
const auto word = raw[lexeme[(alpha | '_') >> *word_rest]];
const auto number_text = -lit('-') >> (("0x" >> +xdigit) | +digit) >> !(alnum | '_');
const auto number = raw[lexeme[number_text]];
const auto version_text = raw[lexeme[digit >> *digit >> *('.' >> +digit)]];
const auto quoted_text = '"' >> *(char_ - '"' - eol) >> '"';
const auto quoted = raw[lexeme[quoted_text]];
// An export name: C++ names have all kinds of characters, and then stand in quotes.
const auto symbol =
    raw[lexeme[quoted_text | ((alpha | char_("_?@$")) >> *(alnum | char_("_?@$")))]];

const auto function_name = raw[lexeme[quoted_text | ((alpha | '_') >> *word_rest)]];

auto keyword(const char* text) {
  return raw[lexeme[lit(text) >> !word_rest]];
}
auto sign(const char* text) {
  return raw[lit(text)];
}

template <class Tag, class Action>
auto name_rule(const char* what, Action action) {
  return named<Tag>(what, symbol[action]);
}
template <class Tag, class Action>
auto word_rule(const char* what, Action action) {
  return named<Tag>(what, word[action]);
}
template <class Tag, class Action>
auto number_rule(Action action) {
  return named<Tag>("a number", number[action]);
}

const auto end_of_item = named<struct end_of_item_tag>("';'", lit(';'));

// --- patterns

x3::rule<struct sequence_tag> const sequence = "a pattern";

const auto nibble = xdigit | '?';
const auto byte = raw[lexeme[nibble >> nibble >> !(alnum | '_' | '?')]][call<&B::add_byte>];
const auto gap = '[' > number_rule<struct shortest_tag>(call<&B::add_gap>) >
                 -(keyword("to") > number_rule<struct longest_tag>(call<&B::set_longest>)) >
                 named<struct close_gap_tag>("'to' or ']'", lit(']'));
const auto capture = '<' > word_rule<struct capture_tag>("a name", call<&B::add_capture>) >
                     named<struct colon_tag>("':'", lit(':')) > word_rule<struct type_tag>(
                                                                    "a type", call<&B::set_type>) >
                     named<struct close_capture_tag>("'>'", lit('>'));
const auto reference = '=' > word_rule<struct reference_tag>("a name", call<&B::add_reference>);
const auto mark = sign("@")[call<&B::add_mark>];
const auto alternatives = sign("(")[call<&B::open_alternatives>] > sequence >
                          *(sign("|")[call<&B::next_alternative>] > sequence) >
                          named<struct close_tag>("a pattern element, '|' or ')'",
                                                  sign(")")[call<&B::close_alternatives>]);
const auto element = byte | gap | capture | reference | mark | alternatives;
const auto sequence_def = *element;

BOOST_SPIRIT_DEFINE(sequence)

const auto bytes = keyword("bytes")[call<&B::begin_pattern>] > sequence >
                   named<struct end_bytes_tag>("a pattern element or ';'",
                                               sign(";")[call<&B::end_pattern>]);

// --- the other items

const auto machine = keyword("machine") >
                     word_rule<struct machine_tag>("a machine",
                                                   call<&B::set_machine>) > end_of_item;
const auto version =
    keyword("version") >
    named<struct first_tag>("a version", version_text[call<&B::set_first_version>]) >
    -(keyword("to") >
      named<struct last_tag>("a version", version_text[call<&B::set_last_version>])) > end_of_item;
const auto source =
    keyword("source") >
    named<struct source_tag>("text in quotes",
                             quoted[call<&B::set_source>]) > named<struct comma_tag>("','",
                                                                                     lit(',')) >
    named<struct verified_tag>("'verified' or 'unverified'",
                               raw[lexeme[(lit("verified") | "unverified") >> !word_rest]]
                                  [call<&B::set_verified>]) > end_of_item;

const auto distance = number_rule<struct distance_tag>(call<&B::set_distance>);
const auto in_section = keyword("section") >
                        named<struct section_tag>("text in quotes",
                                                  quoted[AddAnchor<Anchor::Kind::section>{}]);
const auto at_function = keyword("function")[AddAnchor<Anchor::Kind::function>{}];
const auto called_from = keyword("called") > named<struct from_tag>("'from'", keyword("from")) >
                         name_rule<struct caller_tag>("a name",
                                                      AddAnchor<Anchor::Kind::called_from>{}) >
                         -(keyword("within") > distance);
// The distance stands before the name, and belongs to an anchor that is made with it.
const auto within = keyword("within")[AddAnchor<Anchor::Kind::within>{}] > distance >
                    named<struct of_tag>("'of'", keyword("of")) >
                    name_rule<struct within_tag>("a name", call<&B::set_anchor_name>);
const auto anchor = keyword("anchor") >
                    named<struct anchor_tag>("'section', 'function', 'called from' or 'within'",
                                             in_section | at_function | called_from |
                                                 within) > end_of_item;

template <CaptureConstraint::Kind Operator>
auto comparison(const char* text) {
  return sign(text)[SetOperator<Operator>{}];
}
const auto operand = number_rule<struct operand_tag>(call<&B::set_operand>);
using Is = CaptureConstraint::Kind;
const auto comparing = (comparison<Is::equal>("==") | comparison<Is::not_equal>("!=") |
                        comparison<Is::at_most>("<=") | comparison<Is::at_least>(">=") |
                        comparison<Is::less>("<") | comparison<Is::greater>(">")) > operand;
const auto in_range = keyword("in")[SetOperator<Is::range>{}] > operand >
                      named<struct to_tag>("'to'", keyword("to")) >
                      number_rule<struct last_operand_tag>(call<&B::set_last_operand>);
const auto is_aligned = keyword("aligned")[SetOperator<Is::aligned>{}] > operand;
const auto where = keyword("where") >
                   word_rule<struct where_tag>("a name", call<&B::begin_constraint>) >
                   named<struct comparing_tag>("a comparison, 'in' or 'aligned'",
                                               comparing | in_range | is_aligned) > end_of_item;

const auto item = machine | version | source | anchor | bytes | where;

const auto signature = keyword("signature") > word_rule<struct id_tag>("an id", call<&B::begin>) >
                       named<struct of_function_tag>("'of'", keyword("of")) >
                       named<struct function_tag>("a name", function_name[call<&B::set_function>]) >
                       named<struct brace_tag>("'{'", lit('{')) > *item
                       > named<struct end_signature_tag>(
                             "'machine', 'version', 'source', 'anchor', 'bytes', 'where' or '}'",
                             sign("}")[call<&B::end>]);

const auto file = *signature > named<struct end_tag>("'signature'", eoi);

}  // namespace

core::Expected<std::vector<Signature>, core::TextError> parse_signatures(std::string_view text) {
  if (auto error = core::refuse_text(text, largest_signature_file))
    return core::fail(std::move(*error));
  SignatureBuilder builder{text};
  if (auto error = core::grammar::parse(text, file, builder)) return core::fail(std::move(*error));
  return builder.take();
}

}  // namespace coldtrace::syscall_map
