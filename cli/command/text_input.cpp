#include "cli/command/text_input.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command/pipe_progress.hpp"
#include "cli/command/report.hpp"
#include "cli/command/standard_input.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/temporary_file.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"
#include "coldtrace/tracefile/packing/unpack_one.hpp"

namespace coldtrace::cli {
namespace {

constexpr u64 most_spooled = u64{64} << 30;

core::Result<std::unique_ptr<core::ImageSource>> spool_text(int descriptor, u64 most) {
  auto spooled = COLDTRACE_TRY(core::spool(descriptor, most, PipeProgress{}.hook()));
  if (spooled.cut)
    return core::fail({core::Fault::limit, most, "pipe", "size", most, spooled.file->size()});
  return std::unique_ptr<core::ImageSource>{std::move(spooled.file)};
}

core::Expected<std::vector<std::byte>, std::string> unpack_bytes(std::vector<std::byte> bytes,
                                                                 u64 most,
                                                                 std::string_view wanted) {
  const core::MemoryImage image{core::ByteView{bytes}};
  const auto kind = core::recognize_bytes(bytes);
  if (!tracefile::is_unpackable(kind)) return bytes;
  const auto unpacked = unpack_single(image, kind, most, wanted);
  if (!unpacked) return core::fail(unpacked.error());
  std::vector<std::byte> all((*unpacked)->size());
  if (const auto done = (*unpacked)->read_at(0, all); !done)
    return core::fail(to_string(done.error()));
  return all;
}

}  // namespace

bool is_pipe(const std::string& path) {
  struct stat status {};
  return path == "-" || (::stat(path.c_str(), &status) == 0 &&
                         (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)));
}

core::Result<std::unique_ptr<core::ImageSource>> open_text_input(const std::string& path,
                                                                 std::optional<u64> limit) {
  const auto most = limit.value_or(most_spooled);
  if (path == "-") return spool_text(STDIN_FILENO, most);
  if (!is_pipe(path))
    return std::unique_ptr<core::ImageSource>{COLDTRACE_TRY(core::FileImage::open(path))};
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0)
    return core::fail({core::Fault::io, 0, "file", "open", 0, static_cast<u64>(errno)});
  auto text = spool_text(descriptor, most);
  ::close(descriptor);
  return text;
}

core::Expected<std::unique_ptr<core::ImageSource>, std::string> unpack_single(
    const core::ImageSource& packed, core::FileKind kind, u64 most, std::string_view wanted) {
  return tracefile::unpack_one(packed, kind, most, fmt::format("more than {} has", wanted));
}

core::Expected<std::vector<std::byte>, std::string> read_unpacked(const std::string& path, u64 most,
                                                                  std::string_view wanted) {
  auto bytes = core::read_whole_file(readable_path(path), most);
  if (!bytes) return core::fail(to_message(bytes.error()));
  return unpack_bytes(std::move(*bytes), most, wanted);
}

core::Expected<std::vector<std::byte>, std::string> read_unpacked(const core::ImageSource& file,
                                                                  u64 most,
                                                                  std::string_view wanted) {
  if (file.size() > most)
    return core::fail(to_message({core::Fault::limit, 0, "file", "size", most, file.size()}));
  std::vector<std::byte> bytes(file.size());
  if (const auto done = file.read_at(0, bytes); !done) return core::fail(to_message(done.error()));
  return unpack_bytes(std::move(bytes), most, wanted);
}
}  // namespace coldtrace::cli
