#include "cli/batch/durable_files.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output/output.hpp"

namespace coldtrace::cli {
namespace {

[[noreturn]] void fail(const std::string& path, int code) {
  throw Failure{fmt::format("{}: cannot write: {}", path, std::generic_category().message(code))};
}

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags)
      : path_{path}, descriptor_{::open(path.c_str(), flags | O_CLOEXEC, 0666)} {
    if (descriptor_ < 0) fail(path_, errno);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  void write(std::string_view text) const {
    while (!text.empty()) {
      const auto count = ::write(descriptor_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(path_, errno);
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void finish() {
    if (::fsync(descriptor_) != 0) fail(path_, errno);
    if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, errno);
  }

 private:
  const std::string& path_;
  int descriptor_;
};

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// File systems that have no such thing (EINVAL) keep names by themselves.
void keep_names(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail(folder, errno);
  const int code = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (code != 0 && code != EINVAL && code != ENOTSUP) fail(folder, code);
}

}  // namespace

void make_folders(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!S_ISDIR(status.st_mode)) fail(path, ENOTDIR);
    return;
  }
  const auto above = folder_of(path);
  if (above != path && ::stat(above.c_str(), &status) != 0) make_folders(above);
  if (::mkdir(path.c_str(), 0777) == 0)
    keep_names(above);
  else if (errno != EEXIST)
    fail(path, errno);
}

void write_file_durably(const std::string& path, const std::string& temporary,
                        std::string_view text) {
  try {
    OpenFile file{temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW};
    file.write(text);
    file.finish();
    rename_durably(temporary, path, true);
  } catch (const Failure&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void append_durably(const std::string& path, std::string_view text) {
  OpenFile file{path, O_WRONLY | O_APPEND | O_NOFOLLOW};
  file.write(text);
  file.finish();
}

void rename_durably(const std::string& from, const std::string& to, bool replace) {
  const unsigned flags = replace ? 0U : RENAME_NOREPLACE;
  int result = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags);
  // A file system without that: what is there was looked for at the start.
  if (result != 0 && flags != 0 && errno == EINVAL) result = std::rename(from.c_str(), to.c_str());
  if (result != 0) fail(to, errno);
  keep_names(folder_of(to));
}

void remove_durably(const std::string& path) {
  if (::unlink(path.c_str()) == 0)
    keep_names(folder_of(path));
  else if (errno != ENOENT)
    fail(path, errno);
}

}  // namespace coldtrace::cli
