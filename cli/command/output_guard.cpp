#include "cli/command/output_guard.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/output/output.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/split_parts.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> binary_formats = {"hooktab", "ctrace"};

// Null of Linux's devices.txt, and full, with which programs are tried: neither keeps anything.
bool is_harmless(dev_t device) {
  return major(device) == 1 && (minor(device) == 3 || minor(device) == 7);
}

struct Target {
  std::string name;  // for messages
  std::string file;  // as it was given
  fs::path path;     // without links
  struct stat status {};
  bool terminal = false;

  bool is(const struct stat& other) const {
    return status.st_dev == other.st_dev && status.st_ino == other.st_ino;
  }
};

// Nothing where no file is there yet.
std::optional<Target> find_target(const OutputOptions& output) {
  Target target;
  const auto& path = output.path;
  std::error_code ignored;
  target.file = output.is_standard() ? "/dev/stdout" : path;
  target.path = fs::canonical(target.file, ignored);
  if (output.is_standard()) {
    target.name = "standard output";
    if (::fstat(STDOUT_FILENO, &target.status) != 0) return std::nullopt;
    target.terminal = ::isatty(STDOUT_FILENO) == 1;
    return target;
  }
  target.name = path;
  if (::stat(path.c_str(), &target.status) != 0) return std::nullopt;
  // Terminals only: to open another device may do something already.
  if (S_ISCHR(target.status.st_mode) && !is_harmless(target.status.st_rdev)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    target.terminal = descriptor >= 0 && ::isatty(descriptor) == 1;
    if (descriptor >= 0) ::close(descriptor);
  }
  return target;
}

void refuse_devices(const Target& target) {
  const auto mode = target.status.st_mode;
  if (S_ISBLK(mode))
    throw Failure{target.name + ": a block device: nothing is ever written to a disk"};
  if (S_ISCHR(mode) && !target.terminal && !is_harmless(target.status.st_rdev))
    throw Failure{target.name + ": a device; results go to a file, a pipe or a terminal"};
}

// What no result is: a program, or a segment of an EnCase image. So the modules of a folder and the
// other segments of an image are safe without a list of them.
bool is_evidence(core::FileKind kind) {
  using core::FileKind;
  return core::has_dos_header(kind) || kind == FileKind::ewf || kind == FileKind::ewf_2 ||
         kind == FileKind::ewf_logical;
}

void refuse_evidence(const Target& target) {
  const auto file = core::FileImage::open(target.path.string());
  if (!file) return;
  const auto kind = core::recognize_file(**file);
  if (is_evidence(kind))
    throw Failure{
        fmt::format("{}: it is {}, which no output replaces", target.name, to_string(kind))};
}

void refuse_input(const Target& target, const std::string& input) {
  struct stat status {};
  if (::stat(input.c_str(), &status) != 0) return;
  if (target.is(status))
    throw Failure{fmt::format("{}: the same file as the input {}", target.name, input)};
  if (core::is_part_beside(input, target.file))
    throw Failure{fmt::format("{}: a part of the split image {}", target.name, input)};
}

}  // namespace

void guard_output(const OutputOptions& output, const std::string& format,
                  const std::vector<std::string>& inputs) {
  const auto target = find_target(output);
  if (!target) return;
  refuse_devices(*target);
  if (target->terminal &&
      std::find(binary_formats.begin(), binary_formats.end(), format) != binary_formats.end())
    throw Failure{"binary output is not written to a terminal; name a file with -o"};
  if (!S_ISREG(target->status.st_mode)) return;
  for (const auto& input : inputs) refuse_input(*target, input);
  refuse_evidence(*target);
}

}  // namespace coldtrace::cli
