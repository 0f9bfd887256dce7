#include "coldtrace/ntfs/mft.hpp"

#include <algorithm>
#include <bit>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/structures/attribute_list.hpp"
#include "coldtrace/ntfs/structures/file_record.hpp"

namespace coldtrace::ntfs {

using core::Fault;

namespace {

bool is_sound(std::span<std::byte> record) {
  const auto fixup = apply_fixups(record);
  return !is_marked_bad(record) && !fixup.torn && !fixup.incomplete &&
         read_file_record_header(record, 0);
}

// Sequence, links, flags and sizes: what lies before them are the magic, the place of the fixups
// and the log's number, which a write of both does not make the same.
core::ByteView head_bytes(core::ByteView record) {
  return record.subspan(0x10, 0x2a - 0x10);
}

// The attributes of a sound record, without its fixups.
core::ByteView used_bytes(core::ByteView record) {
  const auto header = read_file_record_header(record, 0);
  return record.subspan(header->first_attribute,
                        std::clamp<u64>(header->used_size, header->first_attribute, record.size()) -
                            header->first_attribute);
}

// The bytes that the first record of a $MFT gives it; nothing where another record is the first.
std::optional<u64> stated_size(const core::ImageSource& file, const Mft& mft) {
  std::vector<std::byte> buffer;
  RecordFacts facts;
  if (!mft.read(file, 0, buffer, facts) || facts.misplaced || facts.is_extension())
    return std::nullopt;
  const auto is_own = [](const FileName& name) { return equals_ascii(name.name, "$MFT"); };
  const auto* data = facts.find(AttributeType::data);
  if (std::ranges::none_of(facts.names, is_own)) return std::nullopt;
  if (!data || data->resident || data->lowest_vcn != 0 || data->size == 0) return std::nullopt;
  return data->size;
}

// The first byte from which on a sparse file has nothing.
u64 end_of_data(const core::ImageSource& file) {
  u64 low = 0;
  u64 high = file.size();
  while (low < high) {
    const u64 middle = low + (high - low) / 2;
    const u64 data = file.next_data(middle);
    if (data < file.size())
      low = std::max(middle, data) + 1;
    else
      high = middle;
  }
  return low;
}

// Whether there is nothing from `start` to `end`, by its first bytes: a disk that was made for a
// $MFT is as large as whoever made it said.
bool begins_with_zeros(const core::ImageSource& file, u64 start, u64 end) {
  constexpr u64 looked_at = u64{1} << 20;
  std::vector<std::byte> bytes(std::min(end - start, looked_at));
  return file.read_at(start, bytes) && core::is_zero(bytes);
}

}  // namespace

core::Result<std::optional<core::ParseError>> read_fixed_record(std::span<std::byte> record,
                                                                u64 number, u64 offset,
                                                                RecordFacts& facts) {
  const auto fixup = apply_fixups(record);
  auto damage = COLDTRACE_TRY(read_record_facts(record, number, offset, facts));
  facts.torn = fixup.torn || fixup.incomplete;
  return damage;
}

core::Result<std::vector<std::byte>> read_attribute_list_value(const core::ImageSource& image,
                                                               const ClusterMap& clusters,
                                                               const RecordFacts& base) {
  std::vector<std::byte> value;
  const auto* list = base.find(AttributeType::attribute_list);
  if (!list) return value;
  if (list->resident) {
    value.assign(list->value.begin(), list->value.end());
    return value;
  }
  ExtentFaults faults;
  const auto extents =
      collect_extents(base, AttributeType::attribute_list, list->name, clusters, faults);
  value.resize(std::min(list->size, largest_attribute_list));
  if (auto read = read_stream(image, clusters, extents, 0, value); !read)
    return core::fail(read.error());
  return value;
}

std::optional<u64> Mft::offset_of(u64 record) const {
  return find_offset(clusters_, extents_, core::saturating_multiply(record, record_size_));
}

core::Result<core::Done> Mft::read_raw(const core::ImageSource& image, u64 first,
                                       std::span<std::byte> destination) const {
  const auto put = [&](const auto& mirrored) {
    std::ranges::copy(
        mirrored.second,
        destination.begin() + static_cast<std::ptrdiff_t>((mirrored.first - first) * record_size_));
  };
  const u64 end = core::saturating_add(first, destination.size() / record_size_);
  const auto begin = mirrored_.lower_bound(first);
  if (begin != mirrored_.end() && end == first + 1 && begin->first == first) {
    put(*begin);
    return core::Done{};
  }
  COLDTRACE_TRY(read_stream(image, clusters_, extents_,
                            core::saturating_multiply(first, record_size_), destination));
  std::for_each(begin, mirrored_.lower_bound(std::max(first, end)), put);
  return core::Done{};
}

core::Result<core::Done> Mft::read(const core::ImageSource& image, u64 record,
                                   std::vector<std::byte>& buffer, RecordFacts& facts) const {
  buffer.resize(record_size_);
  COLDTRACE_TRY(read_raw(image, record, buffer));
  COLDTRACE_TRY(read_fixed_record(buffer, record, offset_of(record).value_or(0), facts));
  return core::Done{};
}

core::Result<Mft> Mft::open(const core::ImageSource& image, const BootSector& boot,
                            u64 volume_offset, core::Findings& findings) {
  Mft mft;
  mft.clusters_ = {volume_offset, boot.cluster_size, boot.clusters};
  mft.record_size_ = boot.record_size;
  std::vector<std::byte> buffer(boot.record_size);
  std::vector<std::byte> stored;
  RecordFacts base;
  // The address of $MFTMirr comes second: its first record is a copy of record 0. What is marked
  // BAAD is used where the other one is no better.
  const auto load = [&](Lcn lcn, bool marked) -> core::Result<core::Done> {
    mft.extents_.clear();
    const auto offset = mft.clusters_.offset_of(lcn);
    if (!offset)
      return core::fail({Fault::out_of_bounds, volume_offset, "$Boot", "MftLcn", boot.clusters,
                         static_cast<u64>(lcn)});
    COLDTRACE_TRY(image.read_at(*offset, buffer));
    stored = buffer;
    COLDTRACE_TRY(read_fixed_record(buffer, 0, *offset, base));
    if (base.bad && !marked)
      return core::fail({Fault::bad_magic, *offset, "FILE", "Magic", magic_file, magic_bad});
    return mft.locate(image, base, findings);
  };
  const auto first = load(boot.mft, false);
  if (first) return mft;
  if (!load(boot.mft_mirror, false)) {
    if (load(boot.mft, true)) return mft;
    if (!load(boot.mft_mirror, true)) return core::fail(first.error());
  }
  findings.warning("mft-record-0", first.error().offset,
                   "record 0 of $MFT is not usable, its copy in $MFTMirr is used: {}",
                   first.error());
  mft.mirrored_.emplace(0, std::move(stored));
  return mft;
}

core::Result<core::Done> Mft::locate(const core::ImageSource& image, const RecordFacts& base,
                                     core::Findings& findings) {
  const auto* data = base.find(AttributeType::data);
  const u64 at = offset_of(0).value_or(clusters_.volume_offset);
  if (!data) return core::fail({Fault::missing, at, "$MFT", "$DATA", 1, 0});
  if (data->resident)
    return core::fail({Fault::bad_value, at, "$DATA of $MFT", "NonResident", 1, 0});
  ExtentFaults faults;
  append_extents(*data, clusters_, extents_, faults);
  // A first extent that leads nowhere makes the copy in $MFTMirr the better one.
  if (extents_.empty() || !extents_.front().lcn || !clusters_.contains(*extents_.front().lcn, 1))
    return core::fail({Fault::missing, at, "$MFT", "first extent in the volume", 1, 0});
  if (base.has_list) {
    const auto list = read_attribute_list_value(image, clusters_, base);
    if (list) {
      add_listed_extents(image, *list, base, findings);
    } else {
      findings.warning("mft-extents", list.error());
    }
  }
  const u64 mapped = core::saturating_multiply(extents_.back().end_vcn(), clusters_.cluster_size);
  // A record is somewhere in the image, so there are no more records than fit into it.
  const u64 largest = std::min(mapped, image.size()) / record_size_;
  record_count_ = std::min(data->size / record_size_, largest);
  if (data->size / record_size_ > largest || data->size == 0) {
    record_count_ = largest;
    if (mapped > image.size() && data->size <= mapped)
      findings.warning("mft-size", at, "$MFT says it has {} bytes, but the image has {}",
                       data->size, image.size());
    else
      findings.warning("mft-size", at, "$MFT says it has {} bytes, but {} are mapped", data->size,
                       mapped);
  }
  if (faults.runs || faults.outside_volume)
    findings.warning("mft-extents", at, "the extents of $MFT are damaged or outside the volume");
  stored_count_ = record_count_;
  note_unmapped(record_count_, data->size == 0 ? data->allocated_size : data->size);
  valid_count_ =
      data->size == 0 ? record_count_ : std::min(record_count_, data->valid_size / record_size_);
  return core::Done{};
}

void Mft::note_unmapped(u64 first, u64 stated_size) {
  const u64 stated = stated_size / record_size_;
  if (stated > first)
    unmapped_ = {offset_of(0).value_or(clusters_.volume_offset), record_size_, Gap::Lost::records,
                 first, stated - first};
}

void Mft::add_listed_extents(const core::ImageSource& image, core::ByteView list,
                             const RecordFacts& base, core::Findings& findings) {
  std::vector<AttributeListEntry> parts;
  AttributeListReader entries{list, 0};
  while (const auto entry = entries.next())
    if (entry->type == AttributeType::data && entry->name.empty() && entry->record.record != 0)
      parts.push_back(*entry);
  std::ranges::stable_sort(parts, {}, &AttributeListEntry::lowest_vcn);

  // Each extension record is found through the extents before its own.
  std::vector<std::byte> buffer;
  RecordFacts extension;
  for (const auto& part : parts) {
    if (part.lowest_vcn < extents_.back().end_vcn()) continue;
    const auto read = this->read(image, part.record.record, buffer, extension);
    const auto found = std::ranges::find_if(extension.attributes, [&](const AttributeFacts& a) {
      return a.type == AttributeType::data && a.name.empty() && !a.resident &&
             a.lowest_vcn == part.lowest_vcn;
    });
    if (!read || extension.base != base.reference() || found == extension.attributes.end()) {
      findings.warning("mft-extents", offset_of(part.record.record),
                       "record {} should hold the extents of $MFT from VCN {}, but does not",
                       part.record.record, part.lowest_vcn);
      return;
    }
    ExtentFaults faults;
    append_extents(*found, clusters_, extents_, faults);
    if (faults.runs || faults.outside_volume || faults.gap)
      findings.warning("mft-extents", offset_of(part.record.record),
                       "the extents of $MFT from VCN {} are damaged", part.lowest_vcn);
  }
}

void Mft::use_mirror(const core::ImageSource& image, Lcn mirror, core::Findings& findings) {
  constexpr u64 copied = 4;  // with large clusters there are more, which nothing keeps the same
  const auto start = clusters_.offset_of(mirror);
  if (!start) {
    findings.warning("mft-mirror", std::nullopt, "$MFTMirr is outside the volume");
    return;
  }
  std::vector<std::byte> record(record_size_);
  std::vector<std::byte> copy(record_size_);
  for (u64 number = 0; number < std::min(copied, record_count_); ++number) {
    if (mirrored_.contains(number)) continue;
    const u64 at = core::saturating_add(*start, number * record_size_);
    if (const auto read = image.read_at(at, copy); !read) {
      // What lies behind the end of an image is told for the whole volume.
      if (at < image.available())
        findings.warning("mft-mirror", at, "the copy of record {} in $MFTMirr cannot be read: {}",
                         number, read.error());
      continue;
    }
    auto stored = copy;
    const bool usable = is_sound(copy);
    const auto read = read_raw(image, number, record);
    if (!read || !is_sound(record)) {
      if (read && !usable) continue;
      const auto why = !read                   ? fmt::format("cannot be read ({})", read.error())
                       : is_marked_bad(record) ? std::string{"is marked BAAD"}
                                               : std::string{"is not usable"};
      findings.warning("mft-mirror", offset_of(number), "record {} of $MFT {}, {}", number, why,
                       usable ? "its copy in $MFTMirr is used"
                              : "and its copy in $MFTMirr is not usable either");
      if (usable) mirrored_.emplace(number, std::move(stored));
      continue;
    }
    if (!usable || !std::ranges::equal(head_bytes(record), head_bytes(copy)) ||
        !std::ranges::equal(used_bytes(record), used_bytes(copy)))
      findings.warning("mft-mirror", at, "record {} and its copy in $MFTMirr differ", number);
  }
}

core::Result<Mft> Mft::open_extracted(const core::ImageSource& file, core::Findings& findings) {
  std::vector<std::byte> head(fixup_stride);
  COLDTRACE_TRY(file.read_at(0, head));
  const auto header = COLDTRACE_TRY(read_file_record_header(head, 0));
  const u32 size = header.allocated_size;
  if (!std::has_single_bit(size) || size < 512 || size > 65536)
    return core::fail({Fault::bad_value, 0x1c, "FILE", "AllocatedSize", 1024, size});
  Mft mft;
  mft.extracted_ = true;
  mft.record_size_ = size;
  mft.record_count_ = file.size() / size;
  mft.valid_count_ = mft.record_count_;
  mft.clusters_ = {0, size, mft.record_count_};
  mft.extents_ = {{0, mft.record_count_, Lcn{0}}};
  const u64 there = file.available();
  const auto stated = stated_size(file, mft);
  u64 end = std::min(end_of_data(file), there);
  if (stated < end && begins_with_zeros(file, *stated, end)) end = *stated;
  const u64 counted = std::clamp(stated.value_or(0), end, file.size());
  if (stated && counted < there)
    findings.info("mft-size", counted, "record 0 says that $MFT has {} bytes; the {} not read",
                  *stated,
                  there - counted == 1
                      ? std::string{"byte after them, a zero, is"}
                      : fmt::format("{} after them, which begin with zeros, are", there - counted));
  mft.record_count_ = counted / size;
  mft.valid_count_ = mft.record_count_;
  mft.stored_count_ = std::min(mft.record_count_, end / size + (end % size != 0 ? 1 : 0));
  if (stated > there) {
    mft.note_unmapped(std::max(mft.stored_count_, there / size), *stated);
    findings.warning(
        "image-truncated", there,
        "record 0 says that $MFT has {} bytes, but the file has {}: records are missing", *stated,
        there);
  } else if (!stated && there % size != 0) {
    findings.warning("image-truncated", there, "the file ends {} into a record of {}",
                     core::counted(there % size, "byte", "bytes"), size);
    mft.unmapped_ = {there - there % size, there % size, Gap::Lost::records, there / size, 1};
  }
  return mft;
}

}  // namespace coldtrace::ntfs
