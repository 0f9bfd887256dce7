#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/batch/batch_manifest.hpp"
#include "cli/batch/batch_options.hpp"

namespace coldtrace::cli {

// A worker's orders and answers: lines of text.

struct WorkOrder {
  std::vector<std::string> words;   // of the run
  std::string output;               // the file to write
  std::vector<std::string> hashed;  // files to hash, concatenated
};

// Runs the program, syncs its output to the disk, and hashes. Returns its exit status.
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

// An answer may come from a process that an input has compromised: anything that is not an answer
// is ignored.
WorkAnswer read_answer(std::string_view text);

}  // namespace coldtrace::cli
