// Any bytes as a QCOW2 image, a VHD or VHDX that has a parent, a VMDK's descriptor, the parts of a
// split image, a segment of an E01 image, and a container whose headers are held against it: each
// place of a disk is somewhere for at least a byte, and parts have no bytes but theirs.

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/containers/vmdk_extents.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "ntfs/containers/container_headers.hpp"
#include "ntfs/containers/disk_map.hpp"
#include "ntfs/containers/flat_extents.hpp"
#include "ntfs/containers/sparse_vmdk.hpp"
#include "ntfs/containers/split_image.hpp"
#include "ntfs/disk/ewf_segment.hpp"

namespace {

using namespace coldtrace;

// The next bytes of a disk as its map has them, and then some far away.
void follow(const ntfs::DiskMap& map) {
  std::array<std::byte, 64> bytes{};
  u64 offset = 0;
  for (unsigned step = 0; step < 64; ++step) {
    const auto found = map.find(offset);
    if (found && found->length == 0) __builtin_trap();
    if (found && found->where == ntfs::MappedBytes::Where::file) {
      if (found->file == nullptr) __builtin_trap();
      const auto count = static_cast<std::size_t>(std::min<u64>(bytes.size(), found->length));
      (void)found->file->read_at(found->offset, std::span{bytes}.first(count));
    }
    offset = step < 32 && found ? offset + found->length : u64{1} << step;
  }
}

// Its parts are those that are there, in their order, up to the first letter that is none.
void join(const fixtures::TemporaryDirectory& folder, core::ByteView input) {
  constexpr std::array names{"disk.001", "disk.002", "disk.003", "disk.004"};
  if (input.size() < names.size()) return;
  u64 stored = 0;
  auto left = input.subspan(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto path = folder.path(names[i]);
    std::filesystem::remove(path);
    const auto wanted = static_cast<std::size_t>(input[i]);
    if (wanted == 0) continue;
    const auto part = left.first(std::min(left.size(), 4 * wanted));
    left = left.subspan(part.size());
    folder.write(names[i], core::to_chars(part));
    stored += part.size();
  }
  core::Findings findings;
  const auto image = ntfs::open_split_image(folder.path(names[0]), findings);
  if (!image || !*image) return;
  u64 gaps = 0;
  for (const auto& gap : (*image)->unreliable()) gaps += gap.length;
  if ((*image)->size() != stored + gaps) __builtin_trap();
  u64 read = 0;
  std::array<std::byte, 1> byte{};
  for (u64 offset = 0; offset < (*image)->size(); ++offset)
    if ((*image)->read_at(offset, byte)) ++read;
  if (read != stored) __builtin_trap();
  if ((*image)->next_data(0) > (*image)->size()) __builtin_trap();
}

// The table of regions, the metadata at 1 MiB and what is behind it at 2 MiB, 4 KiB each but the
// last.
void follow_vhdx(const fixtures::TemporaryDirectory& folder, core::ByteView input) {
  constexpr std::size_t piece = 4096;
  constexpr std::array<std::size_t, 3> places{192 << 10, 1 << 20, 2 << 20};
  std::string disk(places.back() + input.size(), '\0');
  for (std::size_t i = 0; i < places.size() && !input.empty(); ++i) {
    const auto part =
        core::to_chars(i + 1 == places.size() ? input : input.first(std::min(piece, input.size())));
    disk.replace(places[i], part.size(), part);
    input = input.subspan(part.size());
  }
  const auto opened = ntfs::open_vhdx_map(folder.write("disk", disk));
  if (opened.map && !opened.refusal.empty()) __builtin_trap();
  if (opened.map) follow(*opened.map);
}

void check_headers(const std::string& path, core::ByteView input) {
  const core::MemoryImage image{input};
  core::Findings findings;
  const auto kind = core::recognize_bytes(input);
  ntfs::check_container_headers(image, kind, {}, findings);
  for (const auto& finding : findings.all())
    if (finding.text.empty()) __builtin_trap();
  const auto defect = ntfs::find_vmdk_defect(image);
  if (defect && defect->text.empty()) __builtin_trap();
  (void)ntfs::is_sound_vmdk(image);
  for (const bool first : {true, false}) {
    const auto segment = ntfs::read_ewf_segment(path, first);
    if (segment && segment->end == ntfs::EwfSegment::End::damaged && segment->damage.empty())
      __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fixtures::TemporaryDirectory folder;
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span{data, size}).subspan(1);
  if (data[0] % 4 == 3) {
    join(folder, input);
    return 0;
  }
  if (data[0] == 4) {
    follow_vhdx(folder, input);
    return 0;
  }
  const auto path = folder.write("disk", core::to_chars(input));
  if (data[0] == 5) {
    check_headers(path, input);
    return 0;
  }
  if (data[0] % 4 == 2) {
    ntfs::OpenProblem problem;
    const auto flat = ntfs::open_flat_extents(path, problem);
    if (flat.map) follow(*flat.map);
    if (ntfs::list_extents(path).size() > size) __builtin_trap();
    return 0;
  }
  const auto opened = data[0] % 4 == 0 ? ntfs::open_qcow_map(path) : ntfs::open_vhd_map(path);
  if (opened.map && !opened.refusal.empty()) __builtin_trap();
  if (opened.map) follow(*opened.map);
  return 0;
}
