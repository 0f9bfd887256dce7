#include <algorithm>
#include <cstdint>
#include <vector>

#include "coldtrace/ntfs/directory_node.hpp"
#include "coldtrace/ntfs/structures/fixup.hpp"

using namespace coldtrace;

// Any bytes as an INDX buffer: entries lie inside it, and packed they are the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> buffer(size);
  std::ranges::copy(std::as_bytes(std::span{data, size}), buffer.begin());
  ntfs::apply_fixups(buffer);
  const auto index = ntfs::read_index_buffer(buffer, 0);
  if (!index) {
    if (index.error().offset > size) __builtin_trap();
    return 0;
  }
  ntfs::NodePacker packer;
  packer.begin();
  ntfs::IndexEntryReader entries{index->node};
  std::size_t named = 0;
  while (const auto entry = entries.next()) {
    if (entry->offset >= size) __builtin_trap();
    if (!entry->name) continue;
    ++named;
    packer.add(*entry, {5, 5}, nullptr);
  }
  if (named > size / 0x10) __builtin_trap();
  ntfs::NodeReader packed{packer.end()};
  for (std::size_t i = 0; i < named; ++i)
    if (!packed.next()) __builtin_trap();
  if (packed.next()) __builtin_trap();
  ntfs::IndexSlackReader slack{index->node.slack, 0, 5};
  std::size_t found = 0;
  while (slack.next())
    if (++found > size / 0x10) __builtin_trap();
  return 0;
}
