#include "ntfs/containers/container_headers.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "coldtrace/core/crc32c.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "ntfs/containers/parent_files.hpp"
#include "ntfs/containers/sparse_vmdk.hpp"
#include "ntfs/containers/stored_numbers.hpp"

namespace coldtrace::ntfs {
namespace {

using core::FileKind;

// A structure with its magic at the start, and the place of its checksum in it.
struct CheckedPart {
  const char* name;
  std::string_view magic;
  u64 size;
  u64 checksum;
};

// Source: Microsoft, "Virtual Hard Disk Image Format Specification" 1.0.
constexpr CheckedPart vhd_footer{"footer", "conectix", 512, 64};
constexpr CheckedPart vhd_header{"dynamic disk header", "cxsparse", 1024, 36};
// Source: [MS-VHDX] 2.2.2, "Headers", and 2.2.3, "Region Table".
constexpr CheckedPart vhdx_header{"header", "head", 4096, 4};
constexpr CheckedPart vhdx_regions{"region table", "regi", u64{64} << 10U, 4};

// One's complement of the sum of the bytes.
u32 vhd_checksum(core::ByteView bytes) {
  u32 sum = 0;
  for (const auto byte : bytes) sum += static_cast<u32>(byte);
  return ~sum;
}

struct Looked {
  bool has_magic = false;
  u32 stated = 0, computed = 0;

  bool is_sound() const { return has_magic && stated == computed; }
};

// Nothing of what cannot be read, which is told where it is needed.
std::optional<Looked> look(const core::ImageSource& file, u64 offset, const CheckedPart& part,
                           bool is_vhd) {
  std::vector<std::byte> bytes(part.size);
  if (!file.read_at(offset, bytes)) return std::nullopt;
  Looked looked;
  looked.has_magic = core::to_chars(bytes).starts_with(part.magic);
  const auto stated = core::load<u32>(bytes, part.checksum).value_or(0);
  std::ranges::fill(std::span{bytes}.subspan(part.checksum, sizeof(u32)), std::byte{0});
  looked.stated = is_vhd ? __builtin_bswap32(stated) : stated;
  looked.computed = is_vhd ? vhd_checksum(bytes) : core::crc32c(bytes);
  return looked;
}

// One file of a chain, and whose it is in words: " of its parent base.vhd", or nothing.
struct Checked {
  const core::ImageSource& file;
  std::string owner;
  core::Findings& findings;
};

void check(const Checked& checked, u64 offset, const CheckedPart& part, bool is_vhd) {
  auto& findings = checked.findings;
  const auto looked = look(checked.file, offset, part, is_vhd);
  if (!looked)
    findings.warning("image-header", offset, "the {}{} cannot be read", part.name, checked.owner);
  else if (!looked->has_magic)
    findings.warning("image-header", offset, "there is no {}{}, which begins with '{}'", part.name,
                     checked.owner, part.magic);
  else if (!looked->is_sound())
    findings.warning("image-header", offset,
                     "the {}{} states the checksum {:#010x}, but has {:#010x}", part.name,
                     checked.owner, looked->stated, looked->computed);
}

// A footer of 511 bytes, as the first versions of Virtual PC wrote it, is none to look at.
void check_vhd(const Checked& checked) {
  const u64 size = checked.file.size();
  if (size < vhd_footer.size) return;
  std::array<std::byte, 8> start{};
  const bool has_short_footer = checked.file.read_at(size - vhd_footer.size + 1, start) &&
                                core::to_chars(start) == vhd_footer.magic;
  if (has_short_footer) return;
  for (const u64 place : {size - vhd_footer.size, u64{0}}) check(checked, place, vhd_footer, true);
  if (const auto header = load_big_u64(checked.file, 16)) check(checked, *header, vhd_header, true);
}

void check_vhdx(const Checked& checked) {
  constexpr u64 unit = u64{64} << 10U;
  for (const u64 place : {unit, 2 * unit}) check(checked, place, vhdx_header, false);
  for (const u64 place : {3 * unit, 4 * unit}) check(checked, place, vhdx_regions, false);
}

void check_vmdk(const Checked& checked) {
  if (const auto defect = find_vmdk_defect(checked.file))
    checked.findings.warning("image-header", defect->offset, "the sparse header{} {}",
                             checked.owner, defect->text);
}

std::optional<core::ParseError> find_unreadable_table(const core::ImageSource& file) {
  constexpr u64 searched = u64{64} << 20U;
  constexpr u64 window = u64{1} << 20U;
  const u64 last = file.size() - std::min(file.size(), searched);
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(file.size(), window)));
  for (u64 at = 0; at < file.size();) {
    if (at >= searched) at = std::max(at, last);
    const auto part = std::span{bytes}.first(std::min<u64>(bytes.size(), file.size() - at));
    if (const auto read = file.read_at(at, part); !read) return read.error();
    at += part.size();
  }
  return std::nullopt;
}

}  // namespace

bool is_sound_vhd_footer(const core::ImageSource& file, u64 offset) {
  const auto looked = look(file, offset, vhd_footer, true);
  return looked && looked->is_sound();
}

void check_container_headers(const core::ImageSource& file, FileKind kind, std::string_view parent,
                             core::Findings& findings) {
  const Checked checked{
      file, parent.empty() ? std::string{} : fmt::format(" of its parent {}", parent), findings};
  if (kind == FileKind::vhd) check_vhd(checked);
  if (kind == FileKind::vhdx) check_vhdx(checked);
  if (kind == FileKind::vmdk) check_vmdk(checked);
}

core::Result<core::Done> check_tables_readable(const std::string& path,
                                               const std::vector<std::string>& files,
                                               core::Findings& findings) {
  for (const auto& each : files) {
    const auto file = core::FileImage::open(each);
    const auto error = file ? find_unreadable_table(**file) : file.error();
    if (!error) continue;
    if (each == path) return core::fail(*error);
    findings.warning("unreadable-range", std::nullopt, "{}, which it needs, cannot be read: {}",
                     file_name_of(each), reason_of(*error));
  }
  return core::Done{};
}

}  // namespace coldtrace::ntfs
