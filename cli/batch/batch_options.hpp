#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command/common_options.hpp"

namespace coldtrace::cli {

// Runs the program with these words after its name, and reports what is wrong, as main() does.
using RunProgram = std::function<Exit(const std::vector<std::string>& words)>;

// Shard N of how many: --shard.
struct Shard {
  unsigned number = 1;
  unsigned of = 1;
};

struct BatchOptions : CommonOptions {
  std::string folder;                // --out-dir
  std::vector<std::string> inputs;   // files and folders
  std::string list;                  // a file with a path on each line
  bool null_separated = false;       // its paths end with a NUL
  std::vector<std::string> include;  // globs for names of files in folders
  std::vector<std::string> command;  // words
  bool hive = false;
  std::string compression;   // "none", "gzip", "zstandard"; empty: the layout's default
  bool whole_paths = false;  // results are named by the whole path of an input
  Shard shard;
  bool compare_contents = false;
  bool retry_failed = false;
  bool wait = false;     // until no other run uses the same results
  unsigned seconds = 0;  // limit per input; 0: none
  unsigned jobs = 1;     // inputs at a time
};

}  // namespace coldtrace::cli
