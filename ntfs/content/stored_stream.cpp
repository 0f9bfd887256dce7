#include "ntfs/content/stored_stream.hpp"

#include <algorithm>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/ntfs/structures/file_record.hpp"
#include "ntfs/content/compressed_units.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

constexpr u64 largest_unit = u64{1} << 20;  // bytes; Windows has 64 KiB

class ResidentStream final : public StoredStream {
 public:
  ResidentStream(std::vector<std::byte> bytes, u64 offset)
      : bytes_{std::move(bytes)}, offset_{offset} {}

  u64 size() const override { return bytes_.size(); }
  u64 offset_of(u64 position) const override { return core::saturating_add(offset_, position); }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    if (const auto error = check_range(offset, destination.size())) return core::fail(*error);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), destination.size(),
                destination.begin());
    return core::Done{};
  }

 private:
  std::vector<std::byte> bytes_;
  u64 offset_;
};

class RunStream final : public StoredStream {
 public:
  struct Layout {
    u64 size = 0;
    u64 valid = 0;
    u64 unit = 0;         // clusters, of a compressed stream
    u64 runs_offset = 0;  // in the image
    bool sparse = false;
  };

  RunStream(const Volume& volume, std::vector<Extent> extents, const Layout& layout)
      : image_{volume.image()},
        clusters_{volume.mft().clusters()},
        extents_{std::move(extents)},
        layout_{layout} {
    layout_.valid = std::min(layout_.valid, layout_.size);
    if (layout_.unit > 0) units_.emplace(image_, clusters_, extents_, layout_.unit, layout_.valid);
  }

  u64 size() const override { return layout_.size; }
  u64 offset_of(u64 position) const override {
    return find_offset(clusters_, extents_, position).value_or(layout_.runs_offset);
  }
  bool has_holes() const override {
    return std::ranges::any_of(extents_, [](const Extent& extent) { return !extent.lcn; });
  }

  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    if (const auto error = check_range(offset, destination.size())) return core::fail(*error);
    const u64 valid = layout_.valid > offset ? layout_.valid - offset : 0;
    const auto stored = destination.first(std::min<u64>(valid, destination.size()));
    std::ranges::fill(destination.subspan(stored.size()), std::byte{0});
    if (units_) return placed(units_->read(offset, stored));
    if (!layout_.sparse) COLDTRACE_TRY(check_holes(offset, stored.size()));
    return placed(read_stream(image_, clusters_, extents_, offset, stored));
  }

 private:
  // What no run maps has no byte of the image: its run list shows it.
  core::Result<core::Done> placed(core::Result<core::Done> result) const {
    if (result || result.error().structure != "stream") return result;
    auto error = result.error();
    error.offset = layout_.runs_offset;
    return core::fail(error);
  }

  core::Result<core::Done> check_holes(u64 offset, u64 length) const {
    for (u64 at = offset; at < offset + length;) {
      const auto* extent = find_extent(extents_, at / clusters_.cluster_size);
      if (extent == nullptr) break;  // which the read tells
      if (!extent->lcn)
        return core::fail({Fault::bad_value, layout_.runs_offset, "mapping pairs",
                           "hole of a stream that is not sparse", 0, at});
      at = core::saturating_multiply(extent->end_vcn(), clusters_.cluster_size);
    }
    return core::Done{};
  }

  const core::ImageSource& image_;
  ClusterMap clusters_;
  std::vector<Extent> extents_;
  Layout layout_;
  std::optional<CompressedUnits> units_;
};

// An attribute with what its facts leave out.
struct ReadAttribute {
  std::vector<std::byte> record;
  Attribute attribute{};
  u64 offset = 0;  // of the attribute in the image
};

core::Result<std::unique_ptr<ReadAttribute>> read_attribute(const Volume& volume,
                                                            const AttributeFacts& known) {
  auto read = std::make_unique<ReadAttribute>();
  RecordFacts facts;
  COLDTRACE_TRY(volume.mft().read(volume.image(), known.record, read->record, facts));
  const u64 offset = volume.mft().offset_of(known.record).value_or(0);
  if (facts.torn || facts.bad)
    return core::fail({Fault::bad_value, offset, "FILE record", "fixup", 0, 0});
  const auto header = COLDTRACE_TRY(read_file_record_header(read->record, offset));
  AttributeReader reader{read->record, header.first_attribute, header.used_size, offset};
  while (reader.read(read->attribute)) {
    const auto& own = read->attribute;
    if (own.type != known.type || own.id != known.id || own.resident != known.resident ||
        to_stored_text(own.name) != known.name)
      continue;
    read->offset = core::saturating_add(offset, own.offset);
    return read;
  }
  return core::fail({Fault::missing, offset, "FILE record", "attribute", 0, 0});
}

core::Result<u64> unit_of(const Attribute& attribute, const ClusterMap& clusters, u64 offset) {
  constexpr u16 lznt1 = 1;
  const u16 method = attribute.flags & 0xff;
  if (method != lznt1)
    return core::fail({Fault::unsupported, offset, "attribute", "compression", lznt1, method});
  const u64 most = largest_unit / clusters.cluster_size;
  const unsigned power = attribute.compression_unit;
  if (power == 0 || power > 16 || u64{1} << power > most)
    return core::fail({Fault::bad_value, offset, "attribute", "CompressionUnit", most, power});
  return u64{1} << power;
}

}  // namespace

core::Result<std::unique_ptr<StoredStream>> open_stored_stream(const Volume& volume,
                                                               const File& file, AttributeType type,
                                                               std::string_view name) {
  const u64 record_offset = volume.mft().offset_of(file.facts.record).value_or(0);
  const auto* known = file.facts.find(type, name);
  if (known == nullptr)
    return core::fail({Fault::missing, record_offset, "FILE record", "stream", 0, 0});
  const auto read = COLDTRACE_TRY(read_attribute(volume, *known));
  const auto& attribute = read->attribute;
  if (attribute.encrypted())
    return core::fail({Fault::unsupported, read->offset, "attribute", "encryption", 0, 0});
  if (attribute.resident)
    return std::make_unique<ResidentStream>(
        std::vector<std::byte>{attribute.value.begin(), attribute.value.end()},
        core::saturating_add(read->offset - attribute.offset, attribute.value_offset));
  if (volume.mft().extracted())
    return core::fail(
        {Fault::unsupported, read->offset, "attribute", "clusters of a $MFT alone", 0, 0});
  constexpr u64 largest = ~u64{0} >> 1;
  if (attribute.size > largest)
    return core::fail(
        {Fault::limit, read->offset, "attribute", "DataSize", largest, attribute.size});
  RunStream::Layout layout{
      .size = attribute.size,
      .valid = attribute.valid_size,
      .runs_offset = core::saturating_add(read->offset - attribute.offset, attribute.runs_offset),
      .sparse = attribute.sparse()};
  if (attribute.compressed())
    layout.unit = COLDTRACE_TRY(unit_of(attribute, volume.mft().clusters(), read->offset));
  ExtentFaults faults;  // each is an error of the reads that it concerns
  auto extents = collect_extents(file.facts, type, known->name, volume.mft().clusters(), faults);
  return std::make_unique<RunStream>(volume, std::move(extents), layout);
}

}  // namespace coldtrace::ntfs
