#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "cli/batch/batch_inputs.hpp"
#include "cli/batch/command_words.hpp"

namespace coldtrace::cli {

// Keeps results from the place of files that the batch or its command names, and the summary from
// that of results. All throw Failure.
class BatchGuard {
 public:
  BatchGuard(const BatchOptions& options, const BatchedCommand& command,
             const std::vector<BatchInput>& inputs);

  // What lies in the place of a result must be a file, and none that is named.
  void check_result(const std::string& path) const;

  // A result that is not what it was must be no evidence.
  void check_replaced(const std::string& path, const std::string& format) const;

  // -o must be no result, which lies `below` the folder.
  void check_summary(const std::string& below) const;

 private:
  std::string summary_;  // below the folder of results; empty where it is not a file, or elsewhere
  std::map<std::pair<dev_t, ino_t>, std::string> named_;  // why each stays
};

}  // namespace coldtrace::cli
