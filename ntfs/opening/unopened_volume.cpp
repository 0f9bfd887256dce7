#include "coldtrace/ntfs/opening/unopened_volume.hpp"

#include <array>

#include "coldtrace/ntfs/logfile/log_file.hpp"
#include "coldtrace/ntfs/structures/boot_sector.hpp"

namespace coldtrace::ntfs {
namespace {

using core::FileKind;

// A fixed VHD is the raw disk with a footer.
bool is_disk(FileKind kind) {
  return kind == FileKind::vhd_fixed || kind == FileKind::disk_gpt || kind == FileKind::disk_mbr;
}

// Of an image as a whole. Of a disk it counts what the volume is, not that it is a disk.
FileKind kind_of_whole(const ImageVolumes& image) {
  return is_disk(image.file.kind) ? identify_at(*image.file.source, 0) : image.file.kind;
}

bool is_other(FileKind kind) {
  return kind != FileKind::ntfs_volume && !may_be_damaged(kind);
}

bool is_behind_end(const core::ParseError& error, const core::ImageSource& image) {
  return error.fault == core::Fault::out_of_bounds && error.structure == "image" &&
         error.offset >= image.size();
}

UnopenedReason why_no_mft(FileKind kind, const core::ParseError& error) {
  return error.fault == core::Fault::io || kind == FileKind::ntfs_mft ? UnopenedReason::damaged_mft
                                                                      : UnopenedReason::no_mft;
}

}  // namespace

UnopenedVolume explain_unopened(const ImageVolumes& image, const Partition& partition,
                                const core::ParseError& error) {
  if (image.is_mft) return {why_no_mft(image.file.kind, error), image.file.kind, error};
  const auto& source = *image.file.source;
  const bool whole = partition.number == 0 && partition.offset == 0;
  const auto kind = whole ? kind_of_whole(image) : identify_at(source, partition.offset);
  const auto because = [&](UnopenedReason reason, const core::ParseError& of) {
    return UnopenedVolume{reason, kind, of};
  };
  if (error.structure == "$MFT" && error.field == "record 0")
    return because(UnopenedReason::no_record_0, error);
  if (partition.offset > 0 && partition.offset >= source.size())
    return because(UnopenedReason::beyond_end, error);
  std::array<std::byte, BootSector::size_on_disk> start;
  if (source.size() >= start.size() && partition.offset <= source.size() - start.size())
    if (const auto read = source.read_at(partition.offset, start); !read)
      return because(UnopenedReason::unreadable, read.error());
  if (whole && is_other(kind)) return because(UnopenedReason::no_volume, error);
  if (kind == FileKind::ntfs_volume)
    return because(is_behind_end(error, source) ? UnopenedReason::cut_off : UnopenedReason::damaged,
                   error);
  if (whole && kind == FileKind::unknown && is_erased_log(source))
    return because(UnopenedReason::erased_log, error);
  return because(may_be_damaged(kind) ? UnopenedReason::lost : UnopenedReason::other_volume, error);
}

std::optional<FileKind> find_other_file(const ImageVolumes& image) {
  if (image.is_mft || image.disk.kind != DiskKind::volume ||
      !may_be_damaged(image.disk.partitions.front().kind))
    return std::nullopt;
  const auto kind = kind_of_whole(image);
  return is_other(kind) ? std::optional{kind} : std::nullopt;
}

}  // namespace coldtrace::ntfs
