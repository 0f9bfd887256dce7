#include "cli/findings/finding_pages.hpp"

#include <algorithm>

namespace coldtrace::cli {
namespace {

struct PageText {
  std::string_view code;
  std::string_view cause;
  std::string_view advice;
};

constexpr PageText texts[] = {
#define PAGE(code, cause, advice) {code, cause, advice},
#include "cli/findings/finding_pages.inc"
#undef PAGE
};

FindingPage page_of(const FindingCode& finding) {
  const auto* const text = std::ranges::find(texts, finding.code, &PageText::code);
  if (text == std::end(texts)) return {finding, {}, {}};
  return {finding, text->cause, text->advice};
}

}  // namespace

std::vector<FindingPage> finding_pages(const std::vector<std::string>& codes) {
  const auto all = finding_codes();
  std::vector<FindingPage> pages;
  for (const auto& code : codes)
    pages.push_back(page_of(*std::ranges::find(all, code, &FindingCode::code)));
  if (codes.empty())
    for (const auto& finding : all) pages.push_back(page_of(finding));
  return pages;
}

}  // namespace coldtrace::cli
