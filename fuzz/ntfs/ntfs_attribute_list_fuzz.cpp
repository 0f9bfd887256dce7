#include <cstdint>

#include "coldtrace/ntfs/structures/attribute_list.hpp"

using namespace coldtrace;

// Any bytes as an attribute list: as many entries as fit, and names inside it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto list = std::as_bytes(std::span{data, size});
  ntfs::AttributeListReader entries{list, 0};
  std::size_t count = 0;
  while (const auto entry = entries.next()) {
    ++count;
    if (entry->name.empty()) continue;
    if (entry->name.data() < list.data() ||
        entry->name.data() + entry->name.size() > list.data() + list.size())
      __builtin_trap();
  }
  if (count > size / 0x1a) __builtin_trap();
  if (entries.damage() && entries.damage()->offset > size) __builtin_trap();
  return 0;
}
