#include "cli/output/opened_target.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // of Linux

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

std::string folder_of(const fs::path& place) {
  return place.has_parent_path() ? place.parent_path().string() : ".";
}

// The descriptor of this process that a path leads to, "/dev/stdout" or "/dev/fd/3"; -1: none.
int descriptor_of(const std::string& path) {
  std::error_code error;
  const auto own = fs::canonical("/proc/self/fd", error);
  fs::path place{path};
  for (int links = 0; links < most_links && !error; ++links) {
    const auto folder = fs::canonical(folder_of(place), error);
    int descriptor = -1;
    const auto name = place.filename().string();
    if (!error && folder == own) {
      std::from_chars(name.data(), name.data() + name.size(), descriptor);
      return descriptor;
    }
    place = folder / fs::read_symlink(place, error);
  }
  return -1;
}

// Where links lead, as far as they can be followed.
fs::path follow_links(const std::string& path) {
  fs::path place{path};
  std::error_code error;
  for (int links = 0; links < most_links; ++links) {
    const auto next = fs::read_symlink(place, error);
    if (error) break;
    place = place.parent_path() / next;
  }
  return place;
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
  if (descriptor_of(path) >= 0) return path;
  const auto resolve = [](const std::string& existing) -> std::string {
    const std::unique_ptr<char, decltype(&std::free)> place{::realpath(existing.c_str(), nullptr),
                                                            &std::free};
    return place ? place.get() : "";
  };
  if (auto place = resolve(path); !place.empty()) return place;
  // Where a link leads to what is not there yet, that is made, as a shell makes it.
  const auto place = follow_links(path);
  const auto folder = resolve(folder_of(place));
  return folder.empty() ? place.string() : (fs::path{folder} / place.filename()).string();
}

std::string open_target(const std::string& path) {
  auto& target = known_target();
  target.path = final_path(path);
  struct stat status {};
  target.absent = ::stat(target.path.c_str(), &status) != 0;
  if (target.absent) {
    if (errno != ENOENT) return std::generic_category().message(errno);
    const auto folder = folder_of(follow_links(path));
    const bool is_there = ::stat(folder.c_str(), &status) == 0;
    return is_there ? "" : fmt::format("{}: {}", folder, std::generic_category().message(errno));
  }
  if (S_ISDIR(status.st_mode)) return {};
  if (S_ISREG(status.st_mode)) {
    const int given = descriptor_of(path);
    if (given < 0) return {};
    target.descriptor = ::fcntl(given, F_DUPFD_CLOEXEC, 0);
  } else {
    target.descriptor = open_for_writing(target.path);
  }
  if (target.descriptor < 0) target.error = errno;
  return {};
}

int take_target(const std::string& final) {
  const auto& target = known_target();
  if (target.path != final) return open_for_writing(final);
  errno = target.error;
  return std::exchange(known_target().descriptor, -1);
}

bool is_opened(const std::string& final) {
  return known_target().descriptor >= 0 && known_target().path == final;
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
