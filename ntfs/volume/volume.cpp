#include "coldtrace/ntfs/volume.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/ntfs/volume_search.hpp"
#include "ntfs/volume/security_owners.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

core::Result<BootSector> read_boot_sector_at(const core::ImageSource& image, u64 offset) {
  std::array<std::byte, BootSector::size_on_disk> sector{};
  COLDTRACE_TRY(image.read_at(offset, sector));
  return read_boot_sector(sector, offset);
}

struct BootSectorCopy {
  BootSector boot;
  u64 copy;
  u64 volume;  // starts here
};

// NT 3.x kept the copy in the middle of the partition. Source: read_ntfs_boot_sector() of Linux,
// fs/ntfs/super.c.
std::optional<BootSectorCopy> find_copy_in_middle(const core::ImageSource& image,
                                                  const Volume::Place& place) {
  const u64 middle = place.size / 2 / 512 * 512;
  const u64 copy = core::saturating_add(place.offset, middle);
  const auto boot = read_boot_sector_at(image, copy);
  if (!boot) return std::nullopt;
  const u64 half = core::saturating_multiply(boot->total_sectors / 2, boot->bytes_per_sector);
  const u64 apart = std::max(half, middle) - std::min(half, middle);
  if (apart > boot->bytes_per_sector) return std::nullopt;
  return BootSectorCopy{*boot, copy, place.offset};
}

// Another volume may end where the place does: a copy is of the volume that its sector count says.
std::optional<BootSectorCopy> find_copy(const core::ImageSource& image,
                                        const Volume::Place& place) {
  const u64 end = std::min(core::saturating_add(place.offset, place.size), image.size());
  std::optional<BootSectorCopy> elsewhere;
  for (const u64 back : sector_sizes) {
    if (back > end - std::min(place.offset, end)) break;
    const auto boot = read_boot_sector_at(image, end - back);
    const auto start = boot ? boot->start_before(end - back) : std::nullopt;
    if (!start || *start < place.earliest.value_or(place.offset)) continue;
    const BootSectorCopy found{*boot, end - back, *start};
    if (*start == place.offset) return found;
    if (place.earliest) elsewhere = found;
  }
  const auto found = find_copy_in_middle(image, place);
  return found ? found : elsewhere;
}

// Of a volume that starts where the place does, for which no other one is taken then.
bool has_mft_at_usual_place(const core::ImageSource& image, const Volume::Place& place) {
  return search_volume(image, {.offset = place.offset, .size = place.size, .scans = false})
      .has_value();
}

}  // namespace

core::Result<Volume> Volume::open(core::Borrowed<core::ImageSource> image, const Place& place,
                                  core::Findings& findings) {
  if (place.mft_offset)
    return search(image, place, {Fault::bad_value, *place.mft_offset, "$MFT", "record 0", 0, 1},
                  findings);
  core::Findings with_boot;
  auto boot = read_boot_sector_at(image, place.offset);
  u64 offset = place.offset;
  if (!boot) {
    const auto found = find_copy(image, place);
    if (!found || (found->volume != place.offset && has_mft_at_usual_place(image, place)))
      return search(image, place, boot.error(), findings);
    offset = found->volume;
    with_boot.warning("boot-sector", place.offset,
                      "the boot sector is not usable, its copy at {:#x} is used{}: {}", found->copy,
                      offset == place.offset
                          ? std::string{}
                          : fmt::format(", by which the volume starts at {:#x}", offset),
                      boot.error());
    boot = found->boot;
  }
  auto volume = open(image, *boot, offset, with_boot);
  if (!volume) return search(image, place, volume.error(), findings);
  findings.merge(with_boot);
  if (place.cluster_size && *place.cluster_size != boot->cluster_size)
    findings.warning("cluster-size-unused", place.offset,
                     "the boot sector says that clusters have {} bytes; the given {} are not used",
                     boot->cluster_size, *place.cluster_size);
  return volume;
}

// For a volume whose boot sectors or what they lead to cannot be used, for the reason `error`.
core::Result<Volume> Volume::search(const core::ImageSource& image, const Place& place,
                                    const core::ParseError& error, core::Findings& findings) {
  const auto found = search_volume(image, {.offset = place.offset,
                                           .size = place.size,
                                           .anywhere = place.anywhere,
                                           .mft_offset = place.mft_offset,
                                           .cluster_size = place.cluster_size});
  if (!found) return core::fail(error);
  core::Findings inside;
  auto volume = open(image, found->boot, found->offset, inside);
  if (!volume) return core::fail(error);
  const auto reason = place.mft_offset
                          ? std::string{}
                          : fmt::format("no boot sector of a volume at {:#x} is usable ({}); ",
                                        place.offset, error);
  findings.warning("geometry-inferred", found->offset,
                   "{}the volume is taken to start at {:#x} with {} of {} bytes, as the records of "
                   "$MFT at {:#x} say",
                   reason, found->offset,
                   core::counted(found->boot.clusters, "cluster", "clusters"),
                   found->boot.cluster_size, found->mft_offset);
  findings.merge(inside);
  return volume;
}

core::Result<Volume> Volume::open(const core::ImageSource& image, const BootSector& boot,
                                  u64 offset, core::Findings& findings) {
  auto mft = COLDTRACE_TRY(Mft::open(image, boot, offset, findings));
  Volume volume{image, std::move(mft)};
  volume.boot_ = boot;
  volume.mft_.use_mirror(image, boot.mft_mirror, findings);
  if (!boot.end_marker)
    findings.info("boot-marker", offset, "the boot sector does not end with 55 AA");
  if (const u64 missing = volume.missing_bytes(); missing > 0)
    findings.warning("image-truncated", image.available(),
                     "the image ends {} before the volume does",
                     core::counted(missing, "byte", "bytes"));
  const auto unread = volume.read_information();
  if (!volume.information_) {
    volume.note_no_information(unread, findings);
  } else if (volume.information_->dirty()) {
    findings.info("volume-dirty", volume.mft_.offset_of(3),
                  "the volume was not cleanly unmounted; $MFT may lag behind its log");
  }
  return volume;
}

core::Result<Volume> Volume::open_extracted_mft(core::Borrowed<core::ImageSource> file,
                                                core::Findings& findings) {
  Volume volume{file, COLDTRACE_TRY(Mft::open_extracted(file, findings))};
  const auto unread = volume.read_information();
  if (unread && unread->fault == Fault::io) volume.note_no_information(unread, findings);
  findings.info("mft-only", std::nullopt,
                "only $MFT is given: no directory indexes or names in their slack, no owners from "
                "$Secure, and no positions of clusters in an image");
  return volume;
}

std::optional<core::ParseError> Volume::read_information() {
  std::vector<std::byte> buffer;
  RecordFacts facts;
  if (const auto read = mft_.read(*image_, static_cast<u64>(SystemRecord::volume), buffer, facts);
      !read)
    return read.error();
  const auto* label = facts.find(AttributeType::volume_name);
  const auto* about = facts.find(AttributeType::volume_information);
  const auto fields =
      about ? core::Fields<12>::at(about->value, 0) : std::optional<core::Fields<12>>{};
  if (!fields) return std::nullopt;
  information_.emplace();
  information_->major_version = fields->get<u8, 8>();
  information_->minor_version = fields->get<u8, 9>();
  information_->flags = fields->get<u16, 10>();
  if (label) information_->label_valid = core::append_utf16(information_->label, label->value);
  return std::nullopt;
}

void Volume::note_no_information(const std::optional<core::ParseError>& unread,
                                 core::Findings& findings) const {
  findings.warning("volume-information", mft_.offset_of(static_cast<u64>(SystemRecord::volume)),
                   "record 3, $Volume, is not usable{}",
                   unread ? fmt::format(": {}", *unread) : std::string{});
}

u64 Volume::missing_bytes() const {
  if (!boot_) return 0;
  const u64 end = core::saturating_add(offset(), boot_->volume_size());
  return end > image_->available() ? end - image_->available() : 0;
}

core::Result<File> Volume::read_file(u64 record) const {
  if (record >= mft_.record_count())
    return core::fail({Fault::out_of_bounds, 0, "$MFT", "record", mft_.record_count(), record});
  File file;
  COLDTRACE_TRY(mft_.read(*image_, record, file.records.emplace_back(), file.facts));
  const auto load = [&](u64 number, RecordFacts& facts) {
    if (number >= mft_.record_count()) return false;
    // A vector's bytes, which the facts view, stay where they are when it is moved.
    auto& bytes = file.records.emplace_back();
    return mft_.read(*image_, number, bytes, facts).has_value();
  };
  file.assembly = assemble_file(*image_, mft_, std::nullopt, load, file.facts);
  return file;
}

SecurityOwners Volume::read_security_owners(core::Findings& findings) const {
  constexpr u64 secure = static_cast<u64>(SystemRecord::secure);
  if (mft_.extracted()) return {};
  const auto file = read_file(secure);
  const AttributeFacts* stream = file ? file->facts.find(AttributeType::data, "$SDS") : nullptr;
  // NT 4 has no $Secure, and its files have descriptors of their own.
  if (!stream || stream->resident) return {};
  ExtentFaults faults;
  const auto extents =
      collect_extents(file->facts, AttributeType::data, stream->name, mft_.clusters(), faults);
  // As many bytes as there are mapped, and no more than security ids can need.
  constexpr u64 largest = u64{1} << 30;
  // An entry of $SII has 40 bytes, and one of $SDS with its copy more than that.
  constexpr u64 smallest_index = u64{1} << 16;
  const u64 mapped = extents.empty() ? 0
                                     : core::saturating_multiply(extents.back().end_vcn(),
                                                                 mft_.clusters().cluster_size);
  const u64 size = std::min({stream->size, mapped, image_->size(), largest});
  const auto read_block = [&](u64 position, std::span<std::byte> room) -> core::ByteView {
    const auto piece = room.first(std::min(security_block_size, size - std::min(size, position)));
    const auto read = read_stream(*image_, mft_.clusters(), extents, position, piece);
    if (read) return piece;
    findings.warning("security-stream", read.error());
    return {};
  };
  std::vector<std::byte> main(security_block_size), copy(security_block_size);
  SecurityOwnersReader reader{
      read_security_index(*image_, mft_, file->facts, 2 * size + smallest_index, findings)};
  for (u64 position = 0; position < size; position += 2 * security_block_size) {
    const auto first = read_block(position, main);
    const auto second = read_block(position + security_block_size, copy);
    reader.add({.main = first, .copy = second, .position = position});
  }
  auto owners = reader.finish();
  const auto place = [&](const SecurityPlaces& places) {
    return find_offset(mft_.clusters(), extents, places.position);
  };
  if (const auto& unfit = reader.faults().unfit; unfit.count > 0)
    findings.warning("security-hash", place(unfit),
                     "$Secure:$SDS: the hash or the copy of {} of its entries does not match the "
                     "descriptor, first for id {} at byte {}; {} of them are not used",
                     unfit.count, unfit.id, unfit.position, reader.faults().unused);
  if (const auto& wrong = reader.faults().contradictory; wrong.count > 0)
    findings.warning(
        "security-index", place(wrong),
        "$Secure: for {} the index $SII, the entry in $SDS and its copy do not agree, first for id "
        "{} at byte {} of $SDS",
        core::counted(wrong.count, "descriptor", "descriptors"), wrong.id, wrong.position);
  return owners;
}

}  // namespace coldtrace::ntfs
