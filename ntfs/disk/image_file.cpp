#include "coldtrace/ntfs/disk/image_file.hpp"

#include <algorithm>
#include <array>

#include <unistd.h>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/temporary_file.hpp"
#include "coldtrace/ntfs/containers/virtual_disk.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "ntfs/containers/disk_map.hpp"
#include "ntfs/containers/sparse_vmdk.hpp"
#include "ntfs/containers/split_image.hpp"
#include "ntfs/disk/ewf_segment.hpp"
#include "ntfs/disk/watched_image.hpp"

namespace coldtrace::ntfs {
namespace {

// Kinds that a few bytes at the start tell, and that are not disks themselves.
bool is_told_by_first_bytes(core::FileKind kind) {
  using core::FileKind;
  switch (kind) {
    case FileKind::ewf:
    case FileKind::ewf_2:
    case FileKind::ewf_logical:
    case FileKind::aff:
    case FileKind::ntfs_mft:
      return true;
    default:
      return core::is_virtual_disk(kind) || core::is_packed(kind);
  }
}

// Of a container that is as long as its disk, the copy of the boot sector may be the end.
bool has_own_structure(const core::ImageSource& image, core::FileKind kind) {
  switch (kind) {
    case core::FileKind::ewf:
      return has_ewf_section(image);
    case core::FileKind::qcow:
      return is_sound_qcow(image);
    case core::FileKind::vhdx:
      return is_sound_vhdx(image);
    case core::FileKind::vmdk:
      return is_sound_vmdk(image);
    default:
      return false;
  }
}

bool has_partition_with_ntfs(const core::ImageSource& image) {
  std::array<std::byte, 512> sector{};
  if (!image.read_at(0, sector) || !looks_like_mbr(sector)) return false;
  core::Findings unused;
  Disk disk{.kind = DiskKind::mbr, .sector_size = 512, .partitions = {}};
  read_mbr(image, sector, disk, unused);
  return std::ranges::any_of(disk.partitions, [](const Partition& partition) {
    return partition.kind == core::FileKind::ntfs_volume;
  });
}

void set_source(ImageFile& image, std::unique_ptr<core::ImageSource> source) {
  auto watched = std::make_unique<WatchedImage>(std::move(source));
  image.watched = watched.get();
  image.source = std::move(watched);
}

}  // namespace

void ImageFile::add_findings(core::Findings& findings) const {
  if (ewf) ewf->add_findings(findings);
  if (watched) watched->add_findings(findings);
}

core::FileKind recognize_image(const core::ImageSource& image, core::Findings& findings) {
  // What cannot be read is told where a volume is looked for in the rest.
  const auto kind = core::recognize_file(image).value_or(core::FileKind::unknown);
  if (!is_told_by_first_bytes(kind) || has_own_structure(image, kind)) return kind;
  const bool disk = has_partition_with_ntfs(image);
  if (!disk && !ends_with_ntfs_boot_sector(image)) return kind;
  findings.warning("first-bytes", 0,
                   "by its first bytes it is {}, but it is read as the {} that the rest says it is",
                   core::to_string(kind), disk ? "disk with partitions" : "NTFS volume");
  return core::FileKind::unknown;
}

core::Result<ImageFile> open_image(std::unique_ptr<core::ImageSource> source,
                                   core::Findings& findings,
                                   const std::vector<std::string>& parents) {
  core::Findings of_bytes;
  const auto kind = recognize_image(*source, of_bytes);
  const auto path = core::temporary_path(*source);
  if (!path.empty() && (kind == core::FileKind::ewf || is_readable_virtual_disk(kind))) {
    if (::access(path.c_str(), R_OK) != 0)
      return core::fail({core::Fault::missing, 0, "/proc", "file"});
    auto image = COLDTRACE_TRY(open_image(path, findings, parents));
    image.unpacked = std::move(source);
    return image;
  }
  findings.merge(of_bytes);
  ImageFile image;
  set_source(image, std::move(source));
  image.container = "raw";
  image.kind = kind;
  return image;
}

core::Result<ImageFile> open_image(const std::string& path, core::Findings& findings,
                                   const std::vector<std::string>& parents) {
  ImageFile image;
  set_source(image, COLDTRACE_TRY(core::FileImage::open(path)));
  image.container = "raw";
  image.kind = recognize_image(*image.source, findings);
  if (is_readable_virtual_disk(image.kind)) {
    image.container = container_name(image.kind);
    set_source(image, COLDTRACE_TRY(open_virtual_disk(path, image.kind, parents, findings)));
    image.kind = recognize_image(*image.source, findings);
    return image;
  }
  if (image.kind != core::FileKind::ewf && !is_first_ewf_segment(path, *image.source)) {
    const bool joined =
        !is_told_by_first_bytes(image.kind) || image.kind == core::FileKind::ntfs_mft;
    if (!joined) return image;
    auto parts = COLDTRACE_TRY(open_split_image(path, findings));
    if (!parts) return image;
    set_source(image, std::move(parts));
    image.container = "split";
    image.kind = recognize_image(*image.source, findings);
    return image;
  }
  auto ewf = COLDTRACE_TRY(open_ewf(path, findings));
  image.ewf = ewf.get();
  image.watched = nullptr;  // it remembers by itself what could not be read
  image.source = std::move(ewf);
  image.container = "ewf";
  image.kind = recognize_image(*image.source, findings);
  return image;
}

}  // namespace coldtrace::ntfs
