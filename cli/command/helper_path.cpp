#include "cli/command/helper_path.hpp"

#include <filesystem>

#include <unistd.h>

namespace coldtrace::cli {

std::string find_helper(const std::string& name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const auto path = (self.parent_path() / ".." / COLDTRACE_LIBEXEC / "coldtrace" / name).string();
  return ::access(path.c_str(), X_OK) == 0 ? path : std::string{};
}

}  // namespace coldtrace::cli
