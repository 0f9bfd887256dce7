#include "coldtrace/ntfs/structures/data_runs.hpp"

#include <cstring>

namespace coldtrace::ntfs {
namespace {

using core::Fault;

constexpr u64 largest_lcn = ~u64{0} >> 1;

u64 little_endian(core::ByteView bytes) {
  u64 value = 0;
  if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

u64 sign_extended(core::ByteView bytes) {
  const u64 value = little_endian(bytes);
  const auto unused_bits = 64 - 8 * bytes.size();
  return static_cast<u64>(static_cast<i64>(value << unused_bits) >> unused_bits);
}

}  // namespace

core::ByteView trim_runs(core::ByteView runs) {
  u64 at = 0;
  while (at < runs.size()) {
    const auto header = std::to_integer<unsigned>(runs[at]);
    if (header == 0) break;
    at += 1 + (header & 15) + (header >> 4);
  }
  return runs.first(std::min<u64>(at, runs.size()));
}

std::optional<DataRun> DataRunReader::stop(Fault fault, core::Name field, u64 expected, u64 found) {
  damage_ = core::ParseError{fault, base_ + at_, "mapping pairs", field, expected, found};
  at_ = runs_.size();
  return std::nullopt;
}

std::optional<DataRun> DataRunReader::next() {
  while (at_ < runs_.size()) {
    const auto header = std::to_integer<unsigned>(runs_[at_]);
    if (header == 0) return std::nullopt;
    const unsigned length_size = header & 0x0f;
    const unsigned delta_size = header >> 4;
    if (length_size == 0 || length_size > 8 || delta_size > 8)
      return stop(Fault::bad_value, "Header", 0x11, header);
    const auto length_bytes = core::slice(runs_, at_ + 1, length_size);
    const auto delta_bytes = core::slice(runs_, at_ + 1 + length_size, delta_size);
    if (!length_bytes || !delta_bytes)
      return stop(Fault::truncated, "Pair", length_size + delta_size, runs_.size() - at_ - 1);
    const u64 clusters = little_endian(*length_bytes);
    if (clusters > largest_lcn) return stop(Fault::bad_value, "Length", largest_lcn, clusters);
    std::optional<Lcn> start;
    if (delta_size > 0) {
      // Unsigned arithmetic wraps, so backward deltas work.
      const u64 lcn = previous_ + sign_extended(*delta_bytes);
      // NT 3.1 wrote LCN -1 for a hole.
      if (lcn != ~u64{0}) {
        if (lcn > largest_lcn) return stop(Fault::out_of_bounds, "Lcn", largest_lcn, lcn);
        start = Lcn{lcn};
        previous_ = lcn;
      }
    }
    at_ += 1 + length_size + delta_size;
    // Empty pairs exist on damaged volumes and say nothing.
    if (clusters > 0) return DataRun{clusters, start};
  }
  return std::nullopt;
}

}  // namespace coldtrace::ntfs
