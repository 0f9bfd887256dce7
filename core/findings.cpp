#include "core/findings.hpp"

#include <algorithm>

namespace coldtrace::core {

std::string_view to_string(Severity severity) {
  return severity == Severity::info ? "info" : "warning";
}

namespace {

// A code that was information so far and is a warning here too: what warns is what is told.
void raise(std::vector<Finding>& findings, const Finding& other) {
  const auto known = std::ranges::find(findings, other.code, &Finding::code);
  if (known == findings.end() || known->severity >= other.severity) return;
  const u64 count = known->count;
  *known = other;
  known->count = count;
}

}  // namespace

bool Findings::repeat(Name code, u64 times) {
  const auto known = std::find_if(findings_.begin(), findings_.end(),
                                  [&](const Finding& finding) { return finding.code == code; });
  if (known == findings_.end()) return false;
  known->count += times;
  return true;
}

void Findings::merge(const Findings& other) {
  for (const auto& finding : other.findings_) {
    if (!repeat(finding.code, finding.count)) {
      findings_.push_back(finding);
    } else {
      raise(findings_, finding);
    }
  }
}

void Findings::merge_unknown(const Findings& other) {
  for (const auto& finding : other.findings_) {
    if (!repeat(finding.code, 0)) {
      findings_.push_back(finding);
    } else {
      raise(findings_, finding);
    }
  }
}

u64 Findings::count(std::string_view code) const {
  for (const auto& finding : findings_)
    if (finding.code.view() == code) return finding.count;
  return 0;
}

}  // namespace coldtrace::core
