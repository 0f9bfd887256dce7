#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::registry {

// What is wrong with one value of the configuration. Each is a finding too, of which there is one
// for all problems of a code.
struct Problem {
  core::Name code;
  core::Severity severity;
  std::string key;                  // "SYSTEM\ControlSet001\Control\Class\{...}"
  std::string value;                // the value's name; empty: the key itself
  std::optional<std::string> data;  // the part of it that is meant: a name, a path, a number
  std::string text;                 // what is wrong, and what comes of it
  std::string advice;               // what to do
};

// Collects what the rules find, each problem a finding too.
class Problems {
 public:
  explicit Problems(core::Findings& findings) : findings_{findings} {}

  // More than a machine can have, which a crafted hive names in a few bytes each, are left out.
  static constexpr std::size_t most = 16384;

  void add(Problem problem) {
    if (all_.size() == most) {
      findings_.warning("driver-problem-limit", std::nullopt,
                        "there are more than {} problems; the others are left out", most);
      return;
    }
    const auto where = problem.value.empty() ? problem.key : problem.key + ": " + problem.value;
    if (problem.severity == core::Severity::warning)
      findings_.warning(problem.code, std::nullopt, "{}: {}", where, problem.text);
    else
      findings_.info(problem.code, std::nullopt, "{}: {}", where, problem.text);
    all_.push_back(std::move(problem));
  }

  std::vector<Problem> take() { return std::move(all_); }

 private:
  core::Findings& findings_;
  std::vector<Problem> all_;
};

}  // namespace coldtrace::registry
