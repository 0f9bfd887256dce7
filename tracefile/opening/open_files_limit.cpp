#include "coldtrace/tracefile/opening/open_files_limit.hpp"

#include <algorithm>

#include <sys/resource.h>

namespace coldtrace::tracefile {

void raise_open_files(std::size_t wanted) {
  constexpr std::size_t others = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted + others) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, wanted + others);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace coldtrace::tracefile
