#include "cli/command/output_guard.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/command/backing_files.hpp"
#include "cli/command/earlier_result.hpp"
#include "cli/output/messages.hpp"
#include "cli/output/opened_target.hpp"
#include "cli/output/output.hpp"
#include "cli/output/stream_packer.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/split_parts.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> binary_formats = {
    "hooktab", "ctrace", "ctschemas", "pcapng", "pftrace", "raw", "sqlite", "xz", "zst"};

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

std::optional<Target> find_standard(int descriptor, std::string name, std::string file) {
  Target target{.name = std::move(name), .file = std::move(file), .path = {}};
  if (::fstat(descriptor, &target.status) != 0) return std::nullopt;
  std::error_code ignored;
  target.path = fs::canonical(target.file, ignored);
  target.terminal = ::isatty(descriptor) == 1;
  return target;
}

// Nothing where no file is there yet.
std::optional<Target> find_target(const OutputOptions& output) {
  if (output.is_standard()) return find_standard(STDOUT_FILENO, "standard output", "/dev/stdout");
  const auto& path = output.path;
  Target target{.name = path, .file = path, .path = {}};
  std::error_code ignored;
  target.path = fs::canonical(path, ignored);
  if (::stat(path.c_str(), &target.status) != 0) return std::nullopt;
  // Terminals only: to open another device may do something already.
  if (S_ISCHR(target.status.st_mode) && !is_harmless(target.status.st_rdev)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    target.terminal = descriptor >= 0 ? ::isatty(descriptor) == 1 : is_opened_terminal(path);
    if (descriptor >= 0) ::close(descriptor);
  }
  return target;
}

void refuse_device(const Target& target) {
  const auto mode = target.status.st_mode;
  if (S_ISBLK(mode))
    throw Failure{target.name + ": a block device: nothing is ever written to a disk"};
  if (S_ISCHR(mode) && !target.terminal && !is_harmless(target.status.st_rdev))
    throw Failure{target.name + ": a device; results go to a file, a pipe or a terminal"};
}

// What cannot be read is taken for evidence, as is what is of no known kind.
core::FileKind kind_of(const std::string& path) {
  const auto file = core::FileImage::open(path);
  if (!file) return core::FileKind::unknown;
  return core::recognize_file(**file).value_or(core::FileKind::unknown);
}

core::FileKind kind_of(const Target& target) {
  return kind_of(target.path.string());
}

constexpr u64 most_pages = 256;

// Whether one of at most so many pages all over the file is `refused`, or cannot be read. The last
// page is one of them.
bool has_page(const Target& target, bool (*refused)(core::ByteView), u64 most = most_pages) {
  constexpr u64 page_size = 4096;
  const auto file = core::FileImage::open(target.path.string());
  if (!file) return false;
  const u64 size = (*file)->size();
  const u64 pages = (size + page_size - 1) / page_size;
  const u64 tries = std::min(pages, most);
  std::array<std::byte, page_size> page;
  for (u64 i = 0; i < tries; ++i) {
    const u64 at = (pages - 1 - i * pages / tries) * page_size;  // the last one first
    const auto part = std::span{page}.first(std::min(page_size, size - at));
    if (!(*file)->read_at(at, part)) return true;
    if (refused(part)) return true;
  }
  return false;
}

// Bytes that no text has: results escape them, but for a cell of CSV.
bool has_bytes_of_no_text(const Target& target) {
  return has_page(target, [](core::ByteView page) { return !is_text(page); });
}

// Whether a page of a file that begins as text is none: results with control characters are UTF-8
// and may have some zero bytes, in CSV. A page may begin and end inside a character.
bool is_no_text(core::ByteView page) {
  constexpr std::size_t most_cut = 3;
  constexpr std::array<char, 16> zeros{};
  if (is_text(page)) return false;
  auto text = core::to_chars(page);
  constexpr std::string_view mark = "\xff\xfe";  // of UTF-16
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  const auto is_inside = [](char c) { return (c & 0xc0) == 0x80; };
  for (std::size_t i = 0; i < most_cut && !text.empty() && is_inside(text.front()); ++i)
    text.remove_prefix(1);
  for (std::size_t i = 0; i < most_cut && !core::is_valid_utf8(text); ++i) text.remove_suffix(1);
  return text.find(std::string_view{zeros.data(), zeros.size()}) != text.npos ||
         !core::is_valid_utf8(text);
}

// Whether it begins like a text and goes on as none does. One that messages are appended to may, if
// it ends as text: a log has zeros where power was lost.
bool is_text_no_further(const Target& target, core::FileKind kind, bool by_messages) {
  if (kind < core::FileKind::manifest && kind != core::FileKind::coldtrace_json) return false;
  return has_page(target, is_no_text, by_messages ? 1 : most_pages);
}

// What nothing tells apart from a piece of an image. One that starts like a text has other bytes
// behind, whole sectors, or the size of the piece beside it.
bool may_be_part(const Target& target, core::FileKind kind, const std::string& beside) {
  constexpr off_t sector_size = 512;
  if (kind == core::FileKind::coldtrace_database) return false;  // of the size that it says
  if (kind == core::FileKind::unknown || kind == core::FileKind::zeros ||
      has_bytes_of_no_text(target))
    return true;
  const auto size = target.status.st_size;
  struct stat piece {};
  return size > 0 && (size % sector_size == 0 ||
                      (::stat(beside.c_str(), &piece) == 0 && size == piece.st_size));
}

void refuse_same_file(const Target& target, const std::string& file, const std::string& what) {
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0 && target.is(status))
    throw Failure{fmt::format("{}: {}", target.name, what)};
}

// ".zst" and ".gz" count no parts of what is named like them and packed so.
bool is_packed_by_name(core::FileKind kind, const std::string& file) {
  const auto packing = packing_of(file);
  return (packing == Packing::zstandard && kind == core::FileKind::zstandard) ||
         (packing == Packing::gzip && kind == core::FileKind::gzip);
}

// A trace is not an image, and what its name has in common with another is not that of a part.
bool is_trace(const std::string& path) {
  const auto kind = kind_of(path);
  return kind == core::FileKind::event_trace || kind == core::FileKind::ctrace;
}

void refuse_part(const Target& target, core::FileKind kind, const std::string& file,
                 const std::string& what) {
  if (core::is_part_beside(file, target.file) ||
      (core::is_named_as_part_beside(file, target.file) && kind != core::FileKind::event_trace &&
       !is_packed_by_name(kind, target.file) && may_be_part(target, kind, file) && !is_trace(file)))
    throw Failure{fmt::format("{}: a part of the split image {}", target.name, what)};
}

void refuse_input(const Target& target, core::FileKind kind, const std::string& input) {
  struct stat status {};
  if (::stat(input.c_str(), &status) != 0) return;
  refuse_part(target, kind, input, input);
  if (!S_ISBLK(status.st_mode)) return;
  const auto behind = fmt::format("the file behind the input {}", input);
  // Without /sys too, and where the name that it has for the file leads nowhere from here.
  if (const auto file = find_loop_file(input);
      file && file->device == target.status.st_dev && file->inode == target.status.st_ino)
    throw Failure{fmt::format("{}: {}", target.name, behind)};
  for (const auto& file : find_backing_files(status.st_rdev)) {
    refuse_same_file(target, file, behind);
    refuse_part(target, kind, file, fmt::format("{}, which is behind the input {}", file, input));
  }
}

void refuse_inputs(const Target& target, const std::vector<std::string>& inputs) {
  if (!S_ISREG(target.status.st_mode)) return;
  for (const auto& input : inputs)
    refuse_same_file(target, input, "the same file as the input " + input);
}

// Throws where the target is a file that must stay as it is. What starts with damage is evidence
// still, of no kind that its first bytes tell.
void refuse_content(const Target& target, const std::string& format,
                    const std::vector<std::string>& inputs, bool by_messages = false) {
  if (!S_ISREG(target.status.st_mode)) return;
  const auto kind = kind_of(target);
  for (const auto& input : inputs) refuse_input(target, kind, input);
  if (kind == core::FileKind::ctrace && replaces_trace(format)) return;
  const bool unknown = kind == core::FileKind::unknown || kind == core::FileKind::zeros;
  const bool mixed = is_text_no_further(target, kind, by_messages);
  if (!is_evidence(kind) && kind != core::FileKind::ctrace && !mixed &&
      !(unknown && has_bytes_of_no_text(target)))
    return;
  const std::string_view more = unknown ? " and not text"
                                : mixed ? " with bytes in it that no text has"
                                        : "";
  if (!is_earlier_result(target.path.string(), target.file, kind, format))
    throw Failure{fmt::format("{}: it is {}{}, which is never overwritten", target.name,
                              to_string(kind), more)};
}

// What a part of an image may begin with.
bool may_be_split(core::FileKind kind) {
  switch (kind) {
    case core::FileKind::unknown:
    case core::FileKind::text:
    case core::FileKind::zeros:
    case core::FileKind::disk_mbr:
    case core::FileKind::disk_gpt:
    case core::FileKind::ntfs_volume:
      return true;
    default:
      return core::is_virtual_disk(kind);
  }
}

// Throws where the next run of an input would take a new file of this name for a part of it.
void refuse_new_part(const std::string& path, const std::vector<std::string>& inputs) {
  for (const auto& input : inputs) {
    if (is_trace(input)) continue;
    const auto file = core::FileImage::open(input);
    if (!file) continue;
    const auto kind = core::recognize_file(**file).value_or(core::FileKind::unknown);
    const bool segment = kind == core::FileKind::ewf || kind == core::FileKind::ewf_2 ||
                         kind == core::FileKind::ewf_logical;
    if (segment ? core::is_named_as_segment_beside(input, path)
                : may_be_split(kind) && core::is_part_beside(input, path))
      throw Failure{fmt::format("{}: it is named like a part of the split image {}", path, input)};
  }
}

bool& is_guarded() {
  static bool guarded = false;
  return guarded;
}

}  // namespace

bool are_messages_guarded() {
  return is_guarded();
}

// The message that says why there are none would be written there too.
void guard_messages(const std::vector<std::string>& inputs) {
  const auto target = find_standard(STDERR_FILENO, "standard error", "/dev/stderr");
  is_guarded() = true;
  if (!target) return;
  try {
    refuse_device(*target);
    refuse_inputs(*target, inputs);
    refuse_content(*target, "", inputs, true);
  } catch (const Failure&) {
    fall_silent();
    throw;
  }
}

void refuse_by_status(const OutputOptions& output, const std::string& format,
                      const std::vector<std::string>& inputs) {
  const auto target = find_target(output);
  if (!target) return;
  refuse_device(*target);
  const bool packed = !output.is_standard() && packing_of(output.path) != Packing::none;
  if (target->terminal && (packed || std::find(binary_formats.begin(), binary_formats.end(),
                                               format) != binary_formats.end()))
    throw Failure{"binary output is not written to a terminal; name a file with -o"};
  refuse_inputs(*target, inputs);
}

void guard_output(const OutputOptions& output, const std::string& format,
                  const std::vector<std::string>& inputs) {
  guard_messages(inputs);
  if (std::ranges::count(inputs, "-") > 1)
    throw Failure{"'-' is given twice, but standard input can be read only once"};
  refuse_by_status(output, format, inputs);
  const auto target = find_target(output);
  if (!target) return refuse_new_part(output.path, inputs);
  refuse_content(*target, format, inputs);
}

void refuse_files_below(const OutputOptions& output, const std::vector<std::string>& folders) {
  std::error_code error;
  const fs::path file{output.path};
  if (output.is_standard() || !fs::is_regular_file(file, error)) return;
  const auto target = fs::canonical(file, error);
  const auto place = fs::weakly_canonical(fs::absolute(file, error).parent_path(), error);
  for (const auto& name : folders) {
    if (!fs::is_directory(name, error)) continue;
    const auto folder = fs::canonical(name, error);
    for (const auto& path : {target, place / file.filename()})
      if (const auto below = path.lexically_relative(folder);
          !error && !below.empty() && *below.begin() != "..")
        throw Failure{fmt::format("{}: a file of {}, which is never overwritten; name another one",
                                  output.path, name)};
  }
}

}  // namespace coldtrace::cli
