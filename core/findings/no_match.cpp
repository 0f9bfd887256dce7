#include "coldtrace/core/no_match.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/nearest_names.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::core {
namespace {

std::string show(std::string_view name, const ShownName& shown_name) {
  return shown_name ? shown_name(name) : to_valid_utf8(shown_text(name));
}

}  // namespace

void NoMatch::add(std::string_view what, std::string_view wanted,
                  std::span<const std::string_view> names, const ShownName& shown_name) {
  if (count_ >= shown) {
    ++count_;
    return;
  }
  const auto sentence = fmt::format("{}: nothing matches '{}'", what, show(wanted, shown_name));
  std::vector<std::string> nearest;
  for (const auto name : nearest_names(wanted, names)) nearest.push_back(show(name, shown_name));
  add_sentence(sentence + did_you_mean(nearest));
}

void NoMatch::add_sentence(std::string_view sentence) {
  if (++count_ <= shown) sentences_.emplace_back(sentence);
}

void NoMatch::merge_unknown(const NoMatch& other) {
  const auto before = count_;
  for (const auto& sentence : other.sentences_)
    if (std::ranges::find(sentences_, sentence) == sentences_.end()) add_sentence(sentence);
  if (count_ > before) count_ += other.count_ - other.sentences_.size();
}

void NoMatch::report(Findings& findings) const {
  for (u64 i = 0; i < count_; ++i)
    findings.warning("no-match", std::nullopt, "{}", fmt::join(sentences_, "; "));
}

}  // namespace coldtrace::core
