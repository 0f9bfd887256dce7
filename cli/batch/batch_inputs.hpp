#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/batch/batch_options.hpp"
#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// Tells whether an input is the same as in an earlier run: of all its parts together. The device
// number is not included: on the nodes of a cluster a file has several.
struct InputIdentity {
  u64 size = 0;        // bytes
  std::string mtime;   // the latest one, ISO 8601 in UTC, 100 ns
  u64 inode = 0;       // of the first part
  std::string sha256;  // of all parts concatenated; empty: not asked for

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
  u64 repeated = 0;             // lines of a list that repeat an input
  // Folders that cannot be listed and entries that cannot be examined, and why.
  std::vector<std::pair<std::string, std::string>> failed;
};

// The inputs that the options name. Throws Failure if a list cannot be read, there is no input, or
// two of them would have the same name. `parents`: of virtual disks, named by the command.
BatchInputs find_batch_inputs(const BatchOptions& options, const std::vector<std::string>& parents);

// Whether two paths lead to the same file, or would.
bool is_same_input(const std::string& one, const std::string& other);

// Throws Failure; `known` is the path of another input with that name.
[[noreturn]] void refuse_same_name(const std::string& known, const BatchInput& input,
                                   bool whole_paths);

// Without a hash; nothing if there is no file, or if it is one whose time does not reveal changes
// (a block device, a pipe).
std::optional<InputIdentity> identify(const BatchInput& input);

// Text as part of a file name, in the form of values in Hive partitions: anything but ASCII
// letters, digits, '.', '-' and '_' becomes %XX, and so does a '.', '-' or '_' at the start. More
// than 200 bytes are cut, and end with '~' and a part of the SHA-256.
std::string escape_name(std::string_view text);

}  // namespace coldtrace::cli
