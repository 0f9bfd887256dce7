#include "coldtrace/core/temporary_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "core/files/read_range.hpp"

namespace coldtrace::core {
namespace {

ParseError io_error(u64 offset, Name field) {
  return {Fault::io, offset, "temporary file", field, 0, static_cast<u64>(errno)};
}

}  // namespace

std::string temporary_folder() {
  const char* const folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

Result<std::unique_ptr<TemporaryFile>> TemporaryFile::create() {
  auto path = temporary_folder();
  int descriptor = ::open(path.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) {  // not every file system has files without a name
    path += "/coldtrace.XXXXXX";
    descriptor = ::mkostemp(path.data(), O_CLOEXEC);
    if (descriptor < 0) return fail(io_error(0, "open"));
    ::unlink(path.c_str());
  }
  return std::unique_ptr<TemporaryFile>{new TemporaryFile{descriptor}};
}

TemporaryFile::~TemporaryFile() {
  ::close(descriptor_);
}

std::string TemporaryFile::path() const {
  // Of this process: those that read images keep no descriptors of others.
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor_);
}

Result<Done> TemporaryFile::write_at(u64 offset, ByteView bytes) {
  while (!bytes.empty()) {
    const auto count =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(io_error(offset, "write"));
    offset += static_cast<u64>(count);
    size_ = std::max(size_, offset);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return Done{};
}

Result<Done> TemporaryFile::read_at(u64 offset, std::span<std::byte> destination) const {
  if (const auto error = check_range(offset, destination.size())) return fail(*error);
  return read_range(descriptor_, "temporary file", offset, destination);
}

std::string temporary_path(const ImageSource& source) {
  if (const auto* const part = dynamic_cast<const TemporaryPart*>(&source)) return part->path();
  const auto* const file = dynamic_cast<const TemporaryFile*>(&source);
  return file != nullptr ? file->path() : std::string{};
}

Result<Spooled> spool(int descriptor, u64 limit, Progress* progress) {
  Spooled spooled{COLDTRACE_TRY(TemporaryFile::create())};
  std::vector<std::byte> window(std::size_t{1} << 18);
  while (!spooled.cut) {
    const auto count = ::read(descriptor, window.data(), window.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail({Fault::io, 0, "file", "read", 0, static_cast<u64>(errno)});
    if (count == 0) break;
    const auto bytes = std::span{window}.first(static_cast<std::size_t>(count));
    const auto left = limit - spooled.file->size();
    spooled.cut = bytes.size() > left;
    COLDTRACE_TRY(spooled.file->append(bytes.first(std::min<u64>(bytes.size(), left))));
    if (progress != nullptr) progress->add(bytes.size(), 0);
  }
  return spooled;
}

}  // namespace coldtrace::core
