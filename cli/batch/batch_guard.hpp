#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "cli/batch/batch_inputs.hpp"
#include "cli/batch/command_words.hpp"

namespace coldtrace::cli {

// Keeps results from replacing files that the batch or its command names, and the summary from
// replacing results. All functions throw Failure.
class BatchGuard {
 public:
  BatchGuard(const BatchOptions& options, const BatchedCommand& command,
             const std::vector<BatchInput>& inputs);

  // Whatever is in the place of a result must be a regular file that is not named.
  void check_result(const std::string& path) const;

  // A result that changed since it was written must not be evidence.
  void check_replaced(const std::string& path, const std::string& format) const;

  // -o must not be a result, which is `below` the folder.
  void check_summary(const std::string& below) const;

 private:
  std::string summary_;  // below the folder of results; empty if it is not a file, or elsewhere
  std::map<std::pair<dev_t, ino_t>, std::string> named_;  // why each must not be replaced
};

}  // namespace coldtrace::cli
