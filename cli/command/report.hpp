#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/output/json.hpp"
#include "coldtrace/core/error.hpp"
#include "coldtrace/core/findings.hpp"

namespace coldtrace::cli {

enum class Exit : u8 {
  ok = 0,        // no warnings
  findings = 1,  // warnings, or the answer is "different" or "not found"
  failure = 2,   // nothing useful could be done
};

// How findings are treated: --fail-on, --tolerate, --quiet and --verbose.
struct FindingPolicy {
  std::vector<std::string> fail_on;
  std::vector<std::string> tolerate;
  bool quiet = false;
  bool verbose = false;

  bool fails(const core::Finding& finding) const;
};

// One of several inputs, which could not be used.
struct FailedInput {
  std::string file;
  std::string error;
};

// Collects what happened to all inputs of a run, reports it on standard error and decides the exit
// status. Standard error gets one line per finding, but a single line for all that are
// informational, unless --verbose is given or --fail-on names them; results never go there.
class Report {
 public:
  explicit Report(const FindingPolicy& policy) : policy_{policy} {}
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  ~Report();

  // Reports an input that was read; its findings are printed with its path.
  void read(std::string_view path, const core::Findings& findings);

  // Prints findings without counting an input: those of one that failed() reports.
  void tell(std::string_view path, const core::Findings& findings);

  // An input that could not be used.
  void failed(std::string_view path, std::string_view message);
  void failed(std::string_view path, const core::ParseError& error);
  // What is known about an input before it is read to the end: reported instead of read() if the
  // reader of the results goes away first.
  void begin(std::string_view path, const core::Findings& findings);

  // For documents that are read without standard error.
  const std::vector<FailedInput>& failed_inputs() const { return failed_; }

  // The command's own answer is "different", "no match" or the like.
  void mismatch() { worst_ = Exit::findings; }

  // Failed inputs count as findings, or as a failure if no input could be read.
  Exit exit() const;

 private:
  void say(std::string_view path, const core::Finding& finding) const;

  const FindingPolicy& policy_;
  Exit worst_ = Exit::ok;
  std::map<std::string, u64, std::less<>> informational_;      // not printed, by code
  std::vector<std::pair<std::string, core::Findings>> begun_;  // that read() was not called for
  u64 inputs_read_ = 0;
  std::vector<FailedInput> failed_;
};

// What the report of a run that ended early, because its reader is gone, knew by then: findings or
// none.
Exit broken_run_exit();

// What is wrong with an input, without its path: for an error of open() or read(), the location is
// the file itself.
std::string to_message(const core::ParseError& error);

// The array of {"code","severity","count","first_offset","text"}.
void write_findings(JsonWriter& json, const core::Findings& findings);

// The array of {"file","error"}.
void write_failed_inputs(JsonWriter& json, const std::vector<FailedInput>& failed);

}  // namespace coldtrace::cli
