#include <algorithm>
#include <cstdint>
#include <vector>

#include "coldtrace/ntfs/mft.hpp"
#include "coldtrace/ntfs/packed_record.hpp"

using namespace coldtrace;

// Any bytes as a FILE record: errors lie inside it, and what is packed is what was read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> record(size);
  std::ranges::copy(std::as_bytes(std::span{data, size}), record.begin());
  ntfs::RecordFacts facts;
  const auto damage = ntfs::read_fixed_record(record, 30, 0, facts);
  if (!damage) {
    if (damage.error().offset > size) __builtin_trap();
    return 0;
  }
  if (*damage && (*damage)->offset > size + 0xffff) __builtin_trap();
  ntfs::PackedWriter packed;
  ntfs::pack_record(facts, packed);
  ntfs::RecordFacts again;
  ntfs::unpack_record(packed.view(), 30, again);
  if (again.names.size() != facts.names.size() ||
      again.attributes.size() != facts.attributes.size() || again.sequence != facts.sequence)
    __builtin_trap();
  for (std::size_t i = 0; i < facts.names.size(); ++i)
    if (again.names[i].name != facts.names[i].name ||
        again.names[i].times != facts.names[i].times ||
        again.names[i].parent != facts.names[i].parent)
      __builtin_trap();
  for (std::size_t i = 0; i < facts.attributes.size(); ++i)
    if (again.attributes[i].type != facts.attributes[i].type ||
        again.attributes[i].name != facts.attributes[i].name ||
        again.attributes[i].size != facts.attributes[i].size)
      __builtin_trap();
  return 0;
}
