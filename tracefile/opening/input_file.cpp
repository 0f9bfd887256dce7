#include "coldtrace/tracefile/opening/input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/temporary_file.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"

namespace coldtrace::tracefile {
namespace {

using core::FileKind;
using Files = std::vector<InputFile>;

constexpr u64 most_spooled = u64{64} << 30;

tl::unexpected<TraceFailure> unreadable(const core::ParseError& error) {
  return core::fail(TraceFailure{error, false, FileKind::unknown});
}

tl::unexpected<TraceFailure> no_trace(FileKind kind, std::string text) {
  return core::fail(TraceFailure{
      {core::Fault::missing, 0, "packed file", "trace", 0, 0}, true, kind, std::move(text)});
}

// A descriptor to read from, which is closed with the object where it was opened for it.
class Opened {
 public:
  explicit Opened(const std::string& path)
      : own_{path != "-"},
        descriptor_{own_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO} {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (own_ && descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }

 private:
  bool own_;
  int descriptor_;
};

// A device, but for /dev/null, which is empty.
bool may_be_endless(const struct stat& status) {
  constexpr unsigned memory_devices = 1, null = 3;  // Linux, admin-guide/devices.txt
  return S_ISBLK(status.st_mode) ||
         (S_ISCHR(status.st_mode) && status.st_rdev != makedev(memory_devices, null));
}

core::Result<std::unique_ptr<core::ImageSource>> spool_input(const std::string& path,
                                                             std::optional<u64> limit,
                                                             core::Findings& findings,
                                                             core::Progress* of_pipe) {
  const auto io_error = [](int error) {
    return core::fail({core::Fault::io, 0, "file", "open", 0, static_cast<u64>(error)});
  };
  const Opened input{path};
  struct stat status {};
  if (input.get() < 0 || ::fstat(input.get(), &status) != 0) return io_error(errno);
  if (may_be_endless(status)) return io_error(ESPIPE);
  auto spooled = COLDTRACE_TRY(core::spool(input.get(), limit.value_or(most_spooled), of_pipe));
  if (spooled.cut)
    findings.warning(
        "packed-limit", std::nullopt,
        "the input has more than {} bytes; the rest is not read (--unpacked-limit raises "
        "the limit)",
        spooled.file->size());
  return std::unique_ptr<core::ImageSource>{std::move(spooled.file)};
}

core::Result<std::unique_ptr<core::ImageSource>> open_bytes(const std::string& path,
                                                            std::optional<u64> limit,
                                                            core::Findings& findings,
                                                            core::Progress* of_pipe) {
  // A named pipe is opened once: its writer would find no reader between two times.
  struct stat status {};
  const bool is_pipe = path == "-" || (::stat(path.c_str(), &status) == 0 &&
                                       (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ||
                                        (S_ISCHR(status.st_mode) && !may_be_endless(status))));
  if (is_pipe) return spool_input(path, limit, findings, of_pipe);
  return std::unique_ptr<core::ImageSource>{COLDTRACE_TRY(core::FileImage::open(path))};
}

}  // namespace

core::Expected<Files, TraceFailure> open_input(std::shared_ptr<const core::ImageSource> bytes,
                                               const std::string& name, std::optional<u64> limit,
                                               core::Findings& findings) {
  // What cannot be read is told by who reads it for a trace.
  const auto kind = core::recognize_file(*bytes).value_or(FileKind::unknown);
  if (!is_unpackable(kind)) return Files{{name, std::move(bytes)}};
  const auto most = limit.value_or(default_unpacked_limit(bytes->size()));
  auto unpacked = unpack(*bytes, kind, most, findings);
  if (!unpacked) return unreadable(unpacked.error());
  const bool is_cut = !unpacked->damage.empty();
  const bool has_bytes = std::ranges::any_of(
      unpacked->files, [](const UnpackedFile& file) { return file.bytes->size() > 0; });
  if (unpacked->files.empty() || (is_cut && !has_bytes))
    return no_trace(kind, describe_none(*unpacked, kind, "a trace"));
  if (unpacked->needs_library)
    findings.warning("packed-damaged", std::nullopt,
                     "libarchive is not installed: not all of the compressed data is unpacked");
  note_others(*unpacked, findings);
  Files files;
  for (auto& trace : unpacked->files)
    files.push_back({trace.name.empty() ? name : fmt::format("{}!{}", name, trace.name),
                     std::move(trace.bytes)});
  return files;
}

core::Expected<Files, TraceFailure> open_input(const std::string& path, std::optional<u64> limit,
                                               core::Findings& findings, core::Progress* of_pipe) {
  auto bytes = open_bytes(path, limit, findings, of_pipe);
  if (!bytes) return unreadable(bytes.error());
  return open_input(std::move(*bytes), path, limit, findings);
}

}  // namespace coldtrace::tracefile
