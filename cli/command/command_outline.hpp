#pragma once

#include <string>
#include <vector>

namespace coldtrace::cli {

// What a command line says about a run, without running it.
struct CommandOutline {
  std::vector<std::string> formats;  // the default first
  std::string format;                // empty if --format is not given
  std::string output;                // what -o names; empty if it is not given
  std::vector<std::string> inputs;   // files and folders that its options name
};

// While one of these lives, begin_run() throws the CommandOutline of the run it would begin, and
// nothing else of the run happens.
class OutlineAlone {
 public:
  OutlineAlone();
  OutlineAlone(const OutlineAlone&) = delete;
  OutlineAlone& operator=(const OutlineAlone&) = delete;
  ~OutlineAlone();

  static bool is_wanted();
};

}  // namespace coldtrace::cli
