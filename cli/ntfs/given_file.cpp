#include "cli/ntfs/given_file.hpp"

#include <algorithm>
#include <array>

#include "cli/command/text_input.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/ntfs/containers/image_kinds.hpp"
#include "coldtrace/ntfs/disk/image_file.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"

namespace coldtrace::cli {
namespace {

using core::FileKind;

constexpr std::string_view wanted = "an image or a snapshot";

// False where there is no such file, which the report says.
bool unpack_given(GivenFile& given, FileKind kind, const std::string& path,
                  std::optional<u64> limit, bool may_be_raw, core::Findings& findings,
                  Report& report) {
  core::Findings of_packing;
  const auto most = limit.value_or(tracefile::default_unpacked_limit(given.bytes->size()));
  auto unpacked = tracefile::unpack(*given.bytes, kind, most, of_packing, is_image_or_snapshot);
  if (!unpacked) {
    report.failed(path, to_message(unpacked.error()));
    return false;
  }
  auto& files = unpacked->files;
  if (files.empty() || (files.size() == 1 && files.front().bytes->size() == 0)) {
    if (may_be_raw) {
      if (!unpacked->damage.empty() || unpacked->encrypted > 0) findings.merge(of_packing);
      return true;
    }
    report.tell(path, of_packing);
    report.failed(path, describe_none(*unpacked, kind, wanted));
    return false;
  }
  if (files.size() > 1) {
    report.failed(path, describe_several(*unpacked, kind, "images or snapshots"));
    return false;
  }
  note_others(*unpacked, of_packing);
  findings.merge(of_packing);
  given.bytes = std::move(files.front().bytes);
  given.is_own = false;
  given.packing = name_of(kind);
  return true;
}

std::optional<GivenFile> unpack_if_packed(GivenFile given, const std::string& path,
                                          std::optional<u64> limit, bool may_be_raw,
                                          core::Findings& findings, Report& report) {
  core::Findings unused;  // of what is opened by its path, which tells them
  const auto kind = ntfs::recognize_image(*given.bytes, unused);
  if (!tracefile::is_unpackable(kind)) return given;
  if (!unpack_given(given, kind, path, limit, may_be_raw, findings, report)) return std::nullopt;
  return given;
}

}  // namespace

bool is_image_or_snapshot(core::ByteView, FileKind kind, std::string_view name) {
  return kind == FileKind::coldtrace_json || kind == FileKind::ntfs_usn_journal ||
         ntfs::may_be_image(kind, name);
}

bool GivenFile::is_snapshot() const {
  std::array<std::byte, 1> first;
  return bytes && bytes->size() > 0 && bytes->read_at(0, first) && first[0] == std::byte{'{'};
}

std::optional<GivenFile> open_given(const std::string& path, std::optional<u64> limit,
                                    bool may_be_raw, core::Findings& findings, Report& report) {
  const bool pipe = is_pipe(path);
  auto bytes = open_text_input(path, limit);
  if (!bytes) {
    if (!pipe) return GivenFile{.bytes = nullptr, .error = bytes.error()};
    report.failed(path, to_message(bytes.error()));
    return std::nullopt;
  }
  return unpack_if_packed({.bytes = std::move(*bytes), .is_own = !pipe}, path, limit, may_be_raw,
                          findings, report);
}

std::optional<GivenFile> take_piped(std::unique_ptr<core::ImageSource> bytes,
                                    const std::string& path, std::optional<u64> limit,
                                    bool may_be_raw, core::Findings& findings, Report& report) {
  return unpack_if_packed({.bytes = std::move(bytes), .is_own = false}, path, limit, may_be_raw,
                          findings, report);
}

void add_unpacked_limit_option(Command& command, std::optional<u64>& limit) {
  command
      .add_option(
          "--unpacked-limit", limit,
          "Maximum decompressed size of a compressed input (default: 256 MiB and 1,032 times the "
          "file, up to 64 GiB) or of a pipe (64 GiB)")
      .as_size();
}

}  // namespace coldtrace::cli
