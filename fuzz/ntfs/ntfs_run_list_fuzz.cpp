#include <cstdint>

#include "coldtrace/ntfs/extents.hpp"

using namespace coldtrace;

// Any bytes as mapping pairs: no more runs than bytes, no empty run, and extents that only grow.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ntfs::AttributeFacts attribute{.type = ntfs::AttributeType::data,
                                       .runs = std::as_bytes(std::span{data, size})};
  std::vector<ntfs::Extent> extents;
  ntfs::ExtentFaults faults;
  ntfs::append_extents(attribute, {0, 4096, 1 << 20}, extents, faults);
  if (extents.size() > size) __builtin_trap();
  u64 end = 0;
  for (const auto& extent : extents) {
    if (extent.vcn != end || extent.clusters == 0 || extent.end_vcn() <= end) __builtin_trap();
    end = extent.end_vcn();
  }
  if (faults.runs && faults.runs->offset > size) __builtin_trap();
  return 0;
}
