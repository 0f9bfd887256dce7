#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include <boost/spirit/home/x3.hpp>

#include "coldtrace/core/text_error.hpp"

// What the grammars of our text files share: names of Boost.Spirit X3, and our own. Include it only
// in the source file of a parser: it takes seconds to compile.
namespace coldtrace::core::grammar {

namespace x3 = boost::spirit::x3;
using x3::char_;
using x3::eoi;
using x3::eol;
using x3::lexeme;
using x3::lit;
using x3::raw;
using x3::ascii::alnum;
using x3::ascii::alpha;
using x3::ascii::digit;
using x3::ascii::space;
using x3::ascii::xdigit;

struct builder_tag;

// Calls a member of the builder with the matched text.
template <auto Member>
struct Call {
  template <class Context>
  void operator()(Context& context) const {
    const auto& range = x3::_attr(context);
    (x3::get<builder_tag>(context).get().*Member)(
        std::string_view{range.begin(), static_cast<std::size_t>(range.end() - range.begin())});
  }
};

template <auto Member>
constexpr Call<Member> call{};

// What a message calls the thing that was expected.
template <class Tag, class Parser>
[[nodiscard]] auto named(const char* name, const Parser& parser) {
  return x3::rule<Tag>{name} = parser;
}

// Blanks, and comments from # to the end of their line.
inline const auto skipped = space | ('#' >> *(char_ - eol) >> (eol | eoi));

// Parses `text` by `rule`, whose actions call `builder`. The first error ends it: what was
// expected, or a Builder::Error with a place and a message.
template <class Rule, class Builder>
std::optional<TextError> parse(std::string_view text, const Rule& rule, Builder& builder) {
  const char* at = text.data();
  const char* const end = at + text.size();
  try {
    x3::phrase_parse(at, end, x3::with<builder_tag>(std::ref(builder))[rule], skipped);
    return std::nullopt;
  } catch (const x3::expectation_failure<const char*>& failure) {
    const char* place = failure.where();
    x3::parse(place, end, *skipped);  // to the next token
    return error_at(text, place, "expected " + failure.which());
  } catch (const typename Builder::Error& error) {
    return error_at(text, error.where, error.message);
  }
}

}  // namespace coldtrace::core::grammar
