#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/batch/batch_manifest.hpp"
#include "cli/batch/batch_options.hpp"

namespace coldtrace::cli {

// A worker's task and its answer, as lines of text.

struct WorkOrder {
  std::vector<std::string> words;   // of the run
  std::string output;               // the file that it writes
  std::vector<std::string> hashed;  // files whose bytes are hashed, in this order
};

// Runs the program, makes sure that its output is on the disk, and hashes it. Returns its exit
// status.
int work_on_input(const RunProgram& run, const WorkOrder& order, int answer);

// Only hashes. Returns 0 if the output is the expected one.
int check_result(const std::string& output, const ResultFile& expected,
                 const std::vector<std::string>& hashed, int answer);

struct WorkAnswer {
  std::optional<ResultFile> result;  // without a path
  std::string input_sha256;
  FindingTally findings;
  std::string unwritable;  // why results could not be written; empty if they could
};

// An answer may come from a process that the bytes of an input have taken over: anything in it that
// is not an answer is ignored.
WorkAnswer read_answer(std::string_view text);

}  // namespace coldtrace::cli
