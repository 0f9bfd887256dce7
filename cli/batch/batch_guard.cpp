#include "cli/batch/batch_guard.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command/output_guard.hpp"
#include "cli/command/standard_input.hpp"
#include "cli/output/output.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view not_replaced =
    ": a file of the batch, which its summary never overwrites";

// The path of a file as it is below a folder; empty where it is not.
std::string path_below(const std::string& folder, const std::string& path) {
  std::error_code error;
  const auto above = fs::weakly_canonical(fs::absolute(path, error).parent_path(), error);
  const auto below = (above / fs::path{path}.filename())
                         .lexically_relative(fs::weakly_canonical(fs::absolute(folder), error));
  return below.empty() || *below.begin() == ".." ? "" : below.string();
}

}  // namespace

BatchGuard::BatchGuard(const BatchOptions& options, const BatchedCommand& command,
                       const std::vector<BatchInput>& inputs)
    : summary_{options.output.is_standard() ? ""
                                            : path_below(options.folder, options.output.path)} {
  if (summary_.starts_with("_batch/"))
    throw Failure{fmt::format("{}{}", options.output.path, not_replaced)};
  auto files = command.files;
  if (!options.list.empty()) files.push_back(options.list);
  for (const auto& input : inputs)
    files.insert(files.end(), input.parts.begin(), input.parts.end());
  guard_output(options.output, options.format, files);
  struct stat status {};
  for (const auto& file : files)
    if (::stat(readable_path(file).c_str(), &status) == 0)
      named_.emplace(std::pair{status.st_dev, status.st_ino}, "the same file as the input " + file);
  const std::string written{"what this run writes its summary or messages to"};
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO})
    if (::fstat(descriptor, &status) == 0)
      named_.emplace(std::pair{status.st_dev, status.st_ino}, written);
  if (!options.output.is_standard() && ::stat(options.output.path.c_str(), &status) == 0)
    named_.emplace(std::pair{status.st_dev, status.st_ino}, written);
}

void BatchGuard::check_result(const std::string& path) const {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  if (!S_ISREG(status.st_mode))
    throw Failure{path + ": not a regular file, and in the place of a result"};
  if (const auto named = named_.find({status.st_dev, status.st_ino}); named != named_.end())
    throw Failure{path + ": " + named->second};
}

void BatchGuard::check_replaced(const std::string& path, const std::string& format) const {
  check_result(path);
  guard_output({.path = path}, format, {});
}

void BatchGuard::check_summary(const std::string& below) const {
  if (below == summary_) throw Failure{fmt::format("{}{}", below, not_replaced)};
}

}  // namespace coldtrace::cli
