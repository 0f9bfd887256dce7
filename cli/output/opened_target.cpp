#include "cli/output/opened_target.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace coldtrace::cli {
namespace {

// A run has one output that is named on its command line.
struct Target {
  std::string path;
  int descriptor = -1;
  int error = 0;  // why it could not be opened
  bool absent = false;
};

Target& known_target() {
  static Target target;
  return target;
}

int open_for_writing(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
}

}  // namespace

std::string final_path(const std::string& path) {
  // A pipe has no name that its link could lead to: "/dev/stdout", "/dev/fd/63".
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return path;
  const auto resolve = [](const std::string& existing) -> std::string {
    const std::unique_ptr<char, decltype(&std::free)> place{::realpath(existing.c_str(), nullptr),
                                                            &std::free};
    return place ? place.get() : "";
  };
  if (auto place = resolve(path); !place.empty()) return place;
  // Where a link leads to what is not there yet, that is made, as a shell makes it.
  constexpr int most_links = 40;  // of Linux
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path place{path};
  for (int links = 0; links < most_links; ++links) {
    const auto next = fs::read_symlink(place, error);
    if (error) break;
    place = place.parent_path() / next;
  }
  const auto folder = resolve(place.has_parent_path() ? place.parent_path().string() : ".");
  return folder.empty() ? path : (fs::path{folder} / place.filename()).string();
}

void open_target(const std::string& path) {
  auto& target = known_target();
  target.path = final_path(path);
  struct stat status {};
  target.absent = ::stat(target.path.c_str(), &status) != 0;
  if (target.absent || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return;
  target.descriptor = open_for_writing(target.path);
  if (target.descriptor < 0) target.error = errno;
}

int take_target(const std::string& final) {
  const auto& target = known_target();
  if (target.path != final) return open_for_writing(final);
  errno = target.error;
  return std::exchange(known_target().descriptor, -1);
}

bool is_opened_terminal(const std::string& path) {
  const auto& target = known_target();
  return target.descriptor >= 0 && target.path == final_path(path) &&
         ::isatty(target.descriptor) == 1;
}

bool was_absent(const std::string& final) {
  return known_target().absent && known_target().path == final;
}

}  // namespace coldtrace::cli
