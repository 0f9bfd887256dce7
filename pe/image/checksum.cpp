#include "coldtrace/pe/checksum.hpp"

namespace coldtrace::pe {

u32 compute_checksum(core::ByteView file, u64 checksum_offset) {
  // 32-bit words are summed, which folds to the same 16 bits; a sum of fewer than 2^32 of them
  // fits. The field is at a multiple of 4 in all but crafted files, whose words are split.
  u64 sum = 0;
  u64 at = 0;
  for (; at + 4 <= file.size(); at += 4)
    sum += at == checksum_offset ? 0 : core::load<u32>(file, at).value_or(0);
  for (u64 shift = 0; at < file.size(); ++at, shift += 8)
    sum += std::to_integer<u64>(file[at]) << shift;
  if (checksum_offset % 4 != 0) {
    const u64 field = core::load<u32>(file, checksum_offset).value_or(0);
    const auto rotated = checksum_offset % 2 == 0 ? field : field << 8;
    // Taking a number away is adding its complement.
    sum += 0xffff - rotated % 0xffff;
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<u32>(sum) + static_cast<u32>(file.size());
}

}  // namespace coldtrace::pe
