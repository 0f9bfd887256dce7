#pragma once

#include <string>
#include <vector>

namespace coldtrace::cli {

// What a command line says about a run that is not carried out.
struct CommandOutline {
  std::vector<std::string> formats;  // the default first
  std::string format;                // empty if --format is not given
  std::string output;                // what -o names; empty if it is not given
  std::vector<std::string> inputs;   // files and folders that its options name
};

// While one exists, begin_run() throws the CommandOutline of the run that it would begin, and does
// nothing else.
class OutlineAlone {
 public:
  OutlineAlone();
  OutlineAlone(const OutlineAlone&) = delete;
  OutlineAlone& operator=(const OutlineAlone&) = delete;
  ~OutlineAlone();

  static bool is_wanted();
};

}  // namespace coldtrace::cli
