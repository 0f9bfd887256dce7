#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::registry {

// What is wrong with one value of the configuration, in exact text. Each is counted in a finding
// too, one for all problems of a code.
struct Problem {
  core::Name code;
  core::Severity severity;
  std::string key;                  // "SYSTEM\ControlSet001\Control\Class\{...}"
  std::string value;                // the value's name; empty: the key itself
  std::optional<std::string> data;  // the part of it in question: a name, a path, a number
  std::string text;                 // what is wrong, and its consequence
  std::string advice;               // what to do
};

// Collects what the rules find; each problem is a finding too.
class Problems {
 public:
  explicit Problems(core::Findings& findings) : findings_{findings} {}

  // More than a machine can have are left out: a crafted hive needs only a few bytes for each.
  static constexpr std::size_t most = 16384;

  void add(Problem problem) {
    if (all_.size() == most) {
      findings_.warning("driver-problem-limit", std::nullopt,
                        "there are more than {} problems; the others are left out", most);
      return;
    }
    const auto where = problem.value.empty() ? problem.key : problem.key + ": " + problem.value;
    const auto text = core::shown_text(where + ": " + problem.text);
    if (problem.severity == core::Severity::warning)
      findings_.warning(problem.code, std::nullopt, "{}", text);
    else
      findings_.info(problem.code, std::nullopt, "{}", text);
    all_.push_back(std::move(problem));
  }

  std::vector<Problem> take() { return std::move(all_); }

 private:
  core::Findings& findings_;
  std::vector<Problem> all_;
};

}  // namespace coldtrace::registry
