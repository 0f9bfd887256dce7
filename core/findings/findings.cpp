#include "coldtrace/core/findings.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace coldtrace::core {

std::string_view to_string(Severity severity) {
  return severity == Severity::info ? "info" : "warning";
}

bool Findings::repeat(Name code, Severity severity, u64 times) {
  const auto known = std::ranges::find(findings_, code, &Finding::code);
  if (known == findings_.end()) return false;
  known->count += times;
  return known->severity >= severity;
}

void Findings::tell(Name code, Severity severity, std::optional<u64> offset, fmt::string_view text,
                    fmt::format_args args) {
  auto sentence = fmt::vformat(text, args);
  // A ParseError begins with its offset, which stands beside the sentence already.
  if (offset) {
    const auto place = fmt::format("{:#x}: ", *offset);
    if (sentence.starts_with(place)) sentence.erase(0, place.size());
  }
  tell({code, severity, 1, offset, std::move(sentence)});
}

void Findings::tell(Finding finding) {
  const auto known = std::ranges::find(findings_, finding.code, &Finding::code);
  if (known == findings_.end()) {
    findings_.push_back(std::move(finding));
    return;
  }
  finding.count = known->count;
  *known = std::move(finding);
}

void Findings::merge(const Findings& other) {
  for (const auto& finding : other.findings_) merge(finding);
}

void Findings::merge(Finding finding) {
  const bool is_state = finding.code == Name{"unreadable-range"};  // each reader of a file says it
  if (!repeat(finding.code, finding.severity, is_state ? 0 : finding.count))
    tell(std::move(finding));
}

void Findings::merge_unknown(const Findings& other) {
  for (const auto& finding : other.findings_)
    if (!repeat(finding.code, finding.severity, 0)) tell(finding);
}

bool Findings::has_warnings() const {
  return std::ranges::find(findings_, Severity::warning, &Finding::severity) != findings_.end();
}

u64 Findings::count(std::string_view code) const {
  for (const auto& finding : findings_)
    if (finding.code.view() == code) return finding.count;
  return 0;
}

}  // namespace coldtrace::core

fmt::format_context::iterator fmt::formatter<coldtrace::core::ParseError>::format(
    const coldtrace::core::ParseError& error, format_context& context) const {
  return fmt::format_to(context.out(), "{}", coldtrace::core::to_string(error));
}
