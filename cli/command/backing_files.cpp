#include "cli/command/backing_files.hpp"

#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

// Without the line end that every one of sysfs has; a path may have more of them.
std::optional<std::string> read_attribute(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// "MAJOR:MINOR".
std::optional<dev_t> read_device(const fs::path& folder) {
  const auto text = read_attribute(folder / "dev");
  if (!text) return std::nullopt;
  const auto* end = text->data() + text->size();
  unsigned high = 0;
  unsigned low = 0;
  const auto first = std::from_chars(text->data(), end, high);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ':') return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, low).ec != std::errc{}) return std::nullopt;
  return makedev(high, low);
}

}  // namespace

std::vector<std::string> find_backing_files(dev_t device, const fs::path& sysfs) {
  std::vector<std::string> files;
  std::vector<dev_t> left{device};
  std::set<dev_t> seen{device};
  const auto add = [&](std::optional<dev_t> next) {
    if (next && seen.insert(*next).second) left.push_back(*next);
  };
  while (!left.empty()) {
    std::error_code error;
    const auto folder = fs::canonical(
        sysfs / fmt::format("dev/block/{}:{}", major(left.back()), minor(left.back())), error);
    left.pop_back();
    if (error) continue;
    if (auto file = read_attribute(folder / "loop/backing_file")) {
      struct stat status {};
      if (::stat(file->c_str(), &status) == 0 && S_ISBLK(status.st_mode)) add(status.st_rdev);
      files.push_back(std::move(*file));
    }
    if (fs::exists(folder / "partition", error)) add(read_device(folder.parent_path()));
    for (fs::directory_iterator slave{folder / "slaves", error}, end; !error && slave != end;
         slave.increment(error))
      add(read_device(slave->path()));
  }
  return files;
}

std::optional<FileNumber> find_loop_file(const std::string& device) {
  const int descriptor = ::open(device.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  loop_info64 about{};
  const bool is_loop = ::ioctl(descriptor, LOOP_GET_STATUS64, &about) == 0;
  ::close(descriptor);
  if (!is_loop) return std::nullopt;
  return FileNumber{about.lo_device, about.lo_inode};
}

}  // namespace coldtrace::cli
