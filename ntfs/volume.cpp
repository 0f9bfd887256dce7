#include "ntfs/volume.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "core/checked.hpp"
#include "core/utf16.hpp"
#include "ntfs/attribute_list.hpp"
#include "ntfs/fixup.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

// Reads the first sector, or else the copy of it behind the volume's last.
core::Result<BootSector> find_boot_sector(const core::ImageSource& image, u64 offset, u64 size,
                                          core::Findings& findings) {
  std::array<std::byte, BootSector::size_on_disk> sector{};
  const auto read = [&](u64 at) -> core::Result<BootSector> {
    COLDTRACE_TRY(image.read_at(at, sector));
    return read_boot_sector(sector, at);
  };
  auto first = read(offset);
  if (first) return first;
  const u64 end = std::min(core::saturating_add(offset, size), image.size());
  // NT 3.x kept the copy in the middle of the volume.
  for (const u64 back : {u64{512}, u64{4096}, (end - std::min(offset, end)) / 2 / 512 * 512}) {
    if (back > end - std::min(offset, end)) continue;
    auto copy = read(end - back);
    // A copy belongs to this volume when its volume ends where the copy is.
    if (!copy) continue;
    findings.warning("boot-sector", offset,
                     "the boot sector is not usable, its copy at {:#x} is used: {}", end - back,
                     first.error());
    return copy;
  }
  return first;
}

}  // namespace

core::Result<Volume> Volume::open(const core::ImageSource& image, u64 offset, u64 size,
                                  core::Findings& findings) {
  const auto boot = COLDTRACE_TRY(find_boot_sector(image, offset, size, findings));
  auto mft = COLDTRACE_TRY(Mft::open(image, boot, offset, findings));
  Volume volume{image, std::move(mft)};
  volume.boot_ = boot;
  if (!boot.end_marker)
    findings.info("boot-marker", offset, "the boot sector does not end with 55 AA");
  if (const u64 missing = volume.missing_bytes(); missing > 0)
    findings.warning("image-truncated", image.size(),
                     "the image ends {} bytes before the volume does", missing);
  volume.read_information();
  if (!volume.information_) {
    findings.warning("volume-information", volume.mft_.offset_of(3),
                     "record 3, $Volume, is not usable");
  } else if (volume.information_->dirty()) {
    findings.info("volume-dirty", volume.mft_.offset_of(3),
                  "the volume was not cleanly unmounted; $MFT may lag behind its log");
  }
  return volume;
}

core::Result<Volume> Volume::open_extracted_mft(const core::ImageSource& file,
                                                core::Findings& findings) {
  Volume volume{file, COLDTRACE_TRY(Mft::open_extracted(file))};
  volume.read_information();
  findings.info("mft-only", std::nullopt,
                "only $MFT is given: no directory indexes, no owners from $Secure, and no places "
                "of clusters in an image");
  return volume;
}

void Volume::read_information() {
  std::vector<std::byte> buffer;
  RecordFacts facts;
  if (!mft_.read(*image_, static_cast<u64>(SystemRecord::volume), buffer, facts)) return;
  const auto* label = facts.find(AttributeType::volume_name);
  const auto* about = facts.find(AttributeType::volume_information);
  const auto fields =
      about ? core::Fields<12>::at(about->value, 0) : std::optional<core::Fields<12>>{};
  if (!fields) return;
  information_.emplace();
  information_->major_version = fields->get<u8, 8>();
  information_->minor_version = fields->get<u8, 9>();
  information_->flags = fields->get<u16, 10>();
  if (label) information_->label_valid = core::append_utf16(information_->label, label->value);
}

u64 Volume::missing_bytes() const {
  if (!boot_) return 0;
  const u64 end = core::saturating_add(offset(), boot_->volume_size());
  return end > image_->size() ? end - image_->size() : 0;
}

core::Result<File> Volume::read_file(u64 record) const {
  if (record >= mft_.record_count())
    return core::fail({Fault::out_of_bounds, 0, "$MFT", "record", mft_.record_count(), record});
  File file;
  file.records.emplace_back();
  COLDTRACE_TRY(mft_.read(*image_, record, file.records.back(), file.facts));
  if (!file.facts.has_list) return file;
  const auto* attribute = file.facts.find(AttributeType::attribute_list);
  if (!attribute || (!attribute->resident && mft_.extracted())) return file;
  const auto list = COLDTRACE_TRY(read_attribute_list_value(*image_, mft_.clusters(), file.facts));

  std::unordered_set<u64> visited{record};
  RecordFacts extension;
  AttributeListReader entries{list, 0};
  while (const auto entry = entries.next()) {
    const u64 number = entry->record.record;
    if (number >= mft_.record_count() || !visited.insert(number).second) continue;
    std::vector<std::byte> bytes;
    const auto read = mft_.read(*image_, number, bytes, extension);
    if (!read || extension.base != file.facts.reference()) continue;
    // Moving a vector leaves its bytes, which the facts view, where they are.
    file.records.push_back(std::move(bytes));
    auto& facts = file.facts;
    facts.names.insert(facts.names.end(), extension.names.begin(), extension.names.end());
    facts.attributes.insert(facts.attributes.end(), extension.attributes.begin(),
                            extension.attributes.end());
    if (!facts.content_size) facts.content_size = extension.content_size;
    facts.torn = facts.torn || extension.torn;
    facts.damaged = facts.damaged || extension.damaged;
  }
  return file;
}

SecurityOwners Volume::read_security_owners(core::Findings& findings) const {
  SecurityOwners owners;
  constexpr u64 secure = static_cast<u64>(SystemRecord::secure);
  if (mft_.extracted()) return owners;
  const auto file = read_file(secure);
  const AttributeFacts* stream = file ? file->facts.find(AttributeType::data, "$SDS") : nullptr;
  // NT 4 has no $Secure, and its files have descriptors of their own.
  if (!stream || stream->resident) return owners;
  ExtentFaults faults;
  const auto extents =
      collect_extents(file->facts, AttributeType::data, stream->name, mft_.clusters(), faults);
  // As many bytes as there are mapped, and no more than security ids can need.
  constexpr u64 largest = u64{1} << 30;
  const u64 mapped = extents.empty() ? 0
                                     : core::saturating_multiply(extents.back().end_vcn(),
                                                                 mft_.clusters().cluster_size);
  const u64 size = std::min({stream->size, mapped, image_->size(), largest});
  std::vector<std::byte> block(security_block_size);
  for (u64 position = 0; position < size; position += 2 * security_block_size) {
    const auto piece = std::span{block}.first(std::min(security_block_size, size - position));
    if (const auto read = read_stream(*image_, mft_.clusters(), extents, position, piece); !read) {
      findings.warning("security-stream", read.error());
      continue;
    }
    add_security_owners(piece, position, owners);
  }
  return owners;
}

core::Result<std::vector<DirectoryEntry>> Volume::read_directory(u64 record,
                                                                 core::Findings& findings) const {
  const auto file = COLDTRACE_TRY(read_file(record));
  const u64 at = mft_.offset_of(record).value_or(0);
  const auto* root = file.facts.find(AttributeType::index_root, directory_index_name);
  if (!root || mft_.extracted())
    return core::fail({Fault::unsupported, at, "FILE", "$INDEX_ROOT", 1, 0});
  const auto index = COLDTRACE_TRY(read_index_root(root->value, at + root->value_offset));
  ExtentFaults faults;
  const auto extents = collect_extents(file.facts, AttributeType::index_allocation, root->name,
                                       mft_.clusters(), faults);
  const u32 unit = index_vcn_unit(index.buffer_size, mft_.clusters().cluster_size);

  struct Level {
    std::vector<std::byte> bytes;
    IndexEntryReader entries;
    std::optional<IndexEntry> pending;  // its child comes first
  };
  std::vector<DirectoryEntry> result;
  std::vector<Level> levels;
  std::unordered_set<u64> visited;
  levels.push_back({{}, IndexEntryReader{index.node}, std::nullopt});
  const auto descend = [&](u64 vcn) {
    const u64 position = core::saturating_multiply(vcn, unit);
    std::vector<std::byte> bytes(index.buffer_size);
    if (!visited.insert(vcn).second) {
      findings.warning("index-loop", at, "the index of directory {} visits VCN {} twice", record,
                       vcn);
      return;
    }
    if (const auto read = read_stream(*image_, mft_.clusters(), extents, position, bytes); !read) {
      findings.warning("index-unreadable", read.error());
      return;
    }
    apply_fixups(bytes);
    const u64 offset = find_offset(mft_.clusters(), extents, position).value_or(0);
    const auto buffer = read_index_buffer(bytes, offset);
    if (!buffer) {
      findings.warning("index-buffer", buffer.error());
      return;
    }
    levels.push_back({std::move(bytes), IndexEntryReader{buffer->node}, std::nullopt});
  };
  const auto emit = [&](const IndexEntry& entry) {
    if (!entry.name) return;
    DirectoryEntry copy{.file = entry.file, .name = *entry.name, .storage = {}};
    copy.storage.assign(entry.name->name.bytes.begin(), entry.name->name.bytes.end());
    copy.name.name = to_stored_text(copy.storage);
    result.push_back(std::move(copy));
  };
  while (!levels.empty()) {
    auto& level = levels.back();
    if (level.pending) {
      emit(*level.pending);
      level.pending.reset();
    }
    auto entry = level.entries.next();
    if (!entry) {
      if (level.entries.damage()) findings.warning("index-entry", *level.entries.damage());
      levels.pop_back();
      continue;
    }
    level.pending = entry;
    if (entry->child_vcn) descend(*entry->child_vcn);
  }
  return result;
}

}  // namespace coldtrace::ntfs
