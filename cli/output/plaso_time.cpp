#include "cli/output/plaso_time.hpp"

namespace coldtrace::cli {

std::string plaso_time(core::FileTime time) {
  auto text = core::to_string(time);
  text.resize(text.size() - 2);
  return text + "+00:00";
}

}  // namespace coldtrace::cli
