#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/batch/batch_options.hpp"
#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// What identifies an input as that of an earlier run, over all its parts together. Device numbers
// are not included: the same file has different ones on the nodes of a cluster.
struct InputIdentity {
  u64 size = 0;        // bytes
  std::string mtime;   // the latest, ISO 8601 in UTC, 100 ns
  u64 inode = 0;       // of the first
  std::string sha256;  // of the bytes of all parts in order; empty: not asked for

  bool operator==(const InputIdentity&) const = default;
};

struct BatchInput {
  std::string path;
  std::string name;  // for naming results: escaped, unique
  std::vector<std::string> parts;
};

struct BatchInputs {
  std::vector<BatchInput> all;  // those of this shard, in order
  u64 parts = 0;                // files in folders that are read along with another one
  u64 links = 0;                // symbolic links in folders, which are not followed
  u64 repeated = 0;             // lines of a list that name an input again
  // Folders that cannot be listed, and entries that cannot be examined, with the reason.
  std::vector<std::pair<std::string, std::string>> failed;
};

// The inputs that the options name. Throws Failure if a list cannot be read, there is no input, or
// two inputs would have the same name. `parents`: those of virtual disks that the command names.
BatchInputs find_batch_inputs(const BatchOptions& options, const std::vector<std::string>& parents);

// Whether two paths lead to the same file, or would.
bool is_same_input(const std::string& one, const std::string& other);

// Throws Failure: another input, with the path `known`, has the same name.
[[noreturn]] void refuse_same_name(const std::string& known, const BatchInput& input,
                                   bool whole_paths);

// Without a hash; nothing if there is no file, or its time does not tell of changes (a block
// device, a pipe).
std::optional<InputIdentity> identify(const BatchInput& input);

// Text as part of a file name, in the form of Hive's partition values: everything except ASCII
// letters, digits, '.', '-' and '_' becomes %XX, and so does a '.', '-' or '_' at the start. Text
// longer than 200 bytes is cut, and ends with '~' and part of its SHA-256.
std::string escape_name(std::string_view text);

}  // namespace coldtrace::cli
