#include "coldtrace/core/file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/read_range.hpp"

namespace coldtrace::core {
namespace {

ParseError io_error(u64 offset, Name field, int code) {
  return {Fault::io, offset, "file", field, 0, static_cast<u64>(code)};
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_{value} {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

// Opens for reading; a directory is refused here, because read() says so only later.
Result<int> open_to_read(const std::string& path, struct stat& status) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)};
  if (file.get() < 0) return fail(io_error(0, "open", errno));
  if (::fstat(file.get(), &status) != 0) return fail(io_error(0, "stat", errno));
  if (S_ISDIR(status.st_mode)) return fail(io_error(0, "open", EISDIR));
  return file.release();
}

}  // namespace

Result<std::unique_ptr<FileImage>> FileImage::open(const std::string& path) {
  struct stat status {};
  // Who writes into a named pipe would lose the reader when it is closed again.
  if (::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode))
    return fail(io_error(0, "open", ESPIPE));
  const int descriptor = COLDTRACE_TRY(open_to_read(path, status));
  Descriptor file{descriptor};
  u64 size = static_cast<u64>(status.st_size);
  if (S_ISBLK(status.st_mode)) {
    if (::ioctl(file.get(), BLKGETSIZE64, &size) != 0) return fail(io_error(0, "size", errno));
  } else if (!S_ISREG(status.st_mode)) {
    return fail(io_error(0, "open", ESPIPE));
  }
  return std::unique_ptr<FileImage>{new FileImage{file.release(), size}};
}

FileImage::~FileImage() {
  ::close(descriptor_);
}

u64 FileImage::next_data(u64 offset) const {
  if (offset >= size_) return size_;
  const auto found = ::lseek(descriptor_, static_cast<off_t>(offset), SEEK_DATA);
  if (found >= 0) return static_cast<u64>(found);
  // File systems and devices without holes say EINVAL.
  return errno == ENXIO ? size_ : offset;
}

Result<Done> FileImage::read_at(u64 offset, std::span<std::byte> destination) const {
  if (const auto error = check_range(offset, destination.size())) return fail(*error);
  return read_range(descriptor_, "file", offset, destination);
}

Result<std::vector<std::byte>> read_whole_file(const std::string& path, u64 cap) {
  struct stat status {};
  const int descriptor = COLDTRACE_TRY(open_to_read(path, status));
  const Descriptor file{descriptor};
  const u64 declared = S_ISREG(status.st_mode) ? static_cast<u64>(status.st_size) : 0;
  if (declared > cap) return fail({Fault::limit, 0, "file", "size", cap, declared});

  // One byte more than declared tells the end of the file from a file that grew.
  std::vector<std::byte> bytes(declared + 1);
  std::size_t used = 0;
  while (used <= cap) {
    if (used == bytes.size()) bytes.resize(std::min<u64>(u64{used} * 2, cap + 1));
    const auto count = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(io_error(used, "read", errno));
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  if (used > cap) return fail({Fault::limit, 0, "file", "size", cap, used});
  bytes.resize(used);
  return bytes;
}

}  // namespace coldtrace::core
