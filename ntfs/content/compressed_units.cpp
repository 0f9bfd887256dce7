#include "ntfs/content/compressed_units.hpp"

#include <algorithm>

#include "coldtrace/core/lznt1.hpp"

namespace coldtrace::ntfs {

using core::Fault;

namespace {

// LZNT1 compresses so many bytes at a time. Source: MS-XCA, "LZNT1 Algorithm Details".
constexpr u64 chunk_size = 4096;

}  // namespace

core::Result<core::Done> CompressedUnits::read(u64 position,
                                               std::span<std::byte> destination) const {
  const std::scoped_lock lock{mutex_};
  const u64 unit_size = unit_ * clusters_.cluster_size;
  while (!destination.empty()) {
    const u64 index = position / unit_size;
    if (loaded_ != index) COLDTRACE_TRY(load(index));
    const u64 inside = position - index * unit_size;
    const auto count = std::min<u64>(destination.size(), plain_.size() - inside);
    std::copy_n(plain_.begin() + static_cast<std::ptrdiff_t>(inside), count, destination.begin());
    position += count;
    destination = destination.subspan(count);
  }
  return core::Done{};
}

core::Result<core::Done> CompressedUnits::load(u64 index) const {
  loaded_.reset();
  const u64 unit_size = unit_ * clusters_.cluster_size;
  const u64 start = index * unit_size;
  const u64 stored = COLDTRACE_TRY(count_clusters(index));
  plain_.assign(std::min(unit_size, size_ - start), std::byte{0});
  if (stored == unit_) {
    COLDTRACE_TRY(read_stream(image_, clusters_, extents_, start, plain_));
  } else if (stored > 0) {
    std::vector<std::byte> compressed(stored * clusters_.cluster_size);
    COLDTRACE_TRY(read_stream(image_, clusters_, extents_, start, compressed));
    COLDTRACE_TRY(decompress(start, compressed));
  }
  loaded_ = index;
  return core::Done{};
}

// Those of a unit that are on the disk, which stand before its holes. One that ends with the run
// list is whole.
core::Result<u64> CompressedUnits::count_clusters(u64 index) const {
  const u64 first = index * unit_;
  const u64 end = first + unit_;
  u64 stored = 0;
  bool hole = false;
  for (u64 vcn = first; vcn < end;) {
    const auto* extent = find_extent(extents_, vcn);
    if (extent == nullptr) return hole ? stored : unit_;
    const u64 stop = std::min(end, extent->end_vcn());
    if (extent->lcn && hole) {
      const auto place = find_offset(clusters_, extents_, vcn * clusters_.cluster_size);
      return core::fail({Fault::bad_value, place.value_or(0), "compressed unit", "clusters", stored,
                         vcn - first});
    }
    hole = hole || !extent->lcn;
    if (extent->lcn) stored += stop - vcn;
    vcn = stop;
  }
  return stored;
}

core::Result<core::Done> CompressedUnits::decompress(u64 start, core::ByteView compressed) const {
  const auto place_of = [&](u64 position) {
    return find_offset(clusters_, extents_, start + position).value_or(0);
  };
  u64 at = 0;
  for (u64 made = 0; made < plain_.size(); made += chunk_size) {
    const auto room = std::span{plain_}.subspan(made, std::min(chunk_size, plain_.size() - made));
    const u64 header = core::load<u16>(compressed, at).value_or(0);
    const auto chunk = core::slice(compressed, at, (header & 0xfff) + 3);
    if (header == 0 || !chunk)
      return core::fail({header == 0 ? Fault::missing : Fault::truncated, place_of(at),
                         "LZNT1 chunk", "data", (header & 0xfff) + 3,
                         at < compressed.size() ? compressed.size() - at : 0});
    auto result = core::decompress_lznt1(*chunk, room, at);
    if (result.damaged) {
      result.error.offset = place_of(result.error.offset);
      return core::fail(result.error);
    }
    if (result.size != room.size())
      return core::fail(
          {Fault::truncated, place_of(at), "LZNT1 chunk", "plain bytes", room.size(), result.size});
    at += chunk->size();
  }
  return core::Done{};
}

}  // namespace coldtrace::ntfs
