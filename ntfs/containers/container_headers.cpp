#include "ntfs/containers/container_headers.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "coldtrace/core/crc32c.hpp"
#include "coldtrace/core/text.hpp"
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

void check(const core::ImageSource& file, u64 offset, const CheckedPart& part, bool is_vhd,
           core::Findings& findings) {
  const auto looked = look(file, offset, part, is_vhd);
  if (!looked)
    findings.warning("image-header", offset, "the {} cannot be read", part.name);
  else if (!looked->has_magic)
    findings.warning("image-header", offset, "there is no {}, which begins with '{}'", part.name,
                     part.magic);
  else if (!looked->is_sound())
    findings.warning("image-header", offset,
                     "the {} states the checksum {:#010x}, and has {:#010x}", part.name,
                     looked->stated, looked->computed);
}

// A footer of 511 bytes, as the first versions of Virtual PC wrote it, is none to look at.
void check_vhd(const core::ImageSource& file, core::Findings& findings) {
  const u64 size = file.size();
  if (size < vhd_footer.size) return;
  std::array<std::byte, 8> start{};
  const bool has_short_footer =
      file.read_at(size - vhd_footer.size + 1, start) && core::to_chars(start) == vhd_footer.magic;
  if (has_short_footer) return;
  for (const u64 place : {size - vhd_footer.size, u64{0}})
    check(file, place, vhd_footer, true, findings);
  if (const auto header = load_big_u64(file, 16)) check(file, *header, vhd_header, true, findings);
}

void check_vhdx(const core::ImageSource& file, core::Findings& findings) {
  constexpr u64 unit = u64{64} << 10U;
  for (const u64 place : {unit, 2 * unit}) check(file, place, vhdx_header, false, findings);
  for (const u64 place : {3 * unit, 4 * unit}) check(file, place, vhdx_regions, false, findings);
}

}  // namespace

bool is_sound_vhd_footer(const core::ImageSource& file, u64 offset) {
  const auto looked = look(file, offset, vhd_footer, true);
  return looked && looked->is_sound();
}

void check_container_headers(const core::ImageSource& file, FileKind kind,
                             core::Findings& findings) {
  if (kind == FileKind::vhd) check_vhd(file, findings);
  if (kind == FileKind::vhdx) check_vhdx(file, findings);
}

}  // namespace coldtrace::ntfs
