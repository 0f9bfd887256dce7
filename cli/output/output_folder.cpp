#include "cli/output/output_folder.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace coldtrace::cli {

OutputFolder::OutputFolder(const OutputOptions& options) : path_{options.path} {
  if (options.is_standard())
    throw Failure{"the output is a folder of files: name one that does not exist with -o"};
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(path_, ignored))) fail(EEXIST);
  for (unsigned attempt = 0;; ++attempt) {
    temporary_ = fmt::format("{}.{}-{}", path_, ::getpid(), attempt);
    if (::mkdir(temporary_.c_str(), 0777) == 0) return;
    const auto code = errno;
    if (code == EEXIST) continue;
    temporary_.clear();
    fail(code);
  }
}

OutputFolder::~OutputFolder() {
  if (temporary_.empty()) return;
  // Not remove_all(), which unlinks the folder first: the sandbox allows no unlinking beside it.
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator{temporary_, ignored})
    ::unlink(file.path().c_str());
  ::rmdir(temporary_.c_str());
}

void OutputFolder::append(std::string_view file, std::string_view bytes) {
  const auto place = fmt::format("{}/{}", temporary_, file);
  const int descriptor = ::open(place.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(errno);
  while (!bytes.empty()) {
    const auto count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const auto code = errno;
      ::close(descriptor);
      fail(code);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::close(descriptor) != 0) fail(errno);
}

void OutputFolder::commit() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void OutputFolder::fail(int code) const {
  throw Failure{fmt::format("{}: cannot write: {}{}", path_, std::generic_category().message(code),
                            code == EEXIST ? "; the output must be a new folder" : "")};
}

}  // namespace coldtrace::cli
