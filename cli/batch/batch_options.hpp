#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command/common_options.hpp"

namespace coldtrace::cli {

// Runs the program with these words behind its name, and says what is wrong; what main() does.
using RunProgram = std::function<Exit(const std::vector<std::string>& words)>;

// N of how many parts of all inputs: --shard.
struct Shard {
  unsigned number = 1;
  unsigned of = 1;
};

struct BatchOptions : CommonOptions {
  std::string folder;                // --out-dir
  std::vector<std::string> inputs;   // files and folders
  std::string list;                  // a file with a path on each line
  bool null_separated = false;       // its paths end with a byte 0
  std::vector<std::string> include;  // globs of names of files in folders
  std::vector<std::string> command;  // words
  bool hive = false;
  std::string compression;   // "none", "gzip", "zstandard"; empty: as the layout has it
  bool whole_paths = false;  // results are named by the whole path of an input
  Shard shard;
  bool hash_inputs = false;
  bool retry_failed = false;
  bool wait = false;     // until no other run works on the same results
  unsigned seconds = 0;  // that an input may take; 0: as long as it takes
  unsigned jobs = 1;     // inputs at a time
};

}  // namespace coldtrace::cli
