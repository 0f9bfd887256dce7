#include "pe/image/rich_header.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace coldtrace::pe {
namespace {

constexpr u64 dos_header_size = 0x40;
constexpr u64 word = 4;
constexpr u64 entry_size = 8;
constexpr u64 start_size = 4 * word;  // "DanS" and three zeros
constexpr u32 start_mark = 0x536e'6144;
constexpr u32 end_mark = 0x6863'6952;

u32 load(core::ByteView bytes, u64 at) {
  return core::load<u32>(bytes, at).value_or(0);
}

// Every byte in front, but for the offset of the PE header, is rotated by its place; every entry's
// first word by its count.
u32 compute_key(core::ByteView before, const std::vector<RichHeader::Entry>& entries) {
  constexpr u64 new_header_offset = 0x3c;
  auto key = static_cast<u32>(before.size());
  for (u64 i = 0; i < before.size(); ++i)
    if (i < new_header_offset || i >= new_header_offset + word)
      key += std::rotl(std::to_integer<u32>(before[i]), static_cast<int>(i % 32));
  for (const auto& entry : entries)
    key += std::rotl(u32{entry.id} << 16 | entry.build, static_cast<int>(entry.count % 32));
  return key;
}

}  // namespace

std::optional<RichHeader> find_rich_header(const Image& image) {
  constexpr u64 farthest = 0x1000;  // where anything was ever seen is a tenth of it
  const auto bytes =
      image.file().clip(0, std::min<u64>(image.dos_header().new_header_offset, farthest));
  u64 end = bytes.size() / word * word;
  do {
    if (end < dos_header_size + start_size + word) return std::nullopt;
    end -= word;
  } while (load(bytes, end) != end_mark);
  const auto key = core::load<u32>(bytes, end + word);
  if (!key) return std::nullopt;
  u64 start = end;
  do {
    if (start < dos_header_size + word) return std::nullopt;
    start -= word;
  } while ((load(bytes, start) ^ *key) != start_mark);

  RichHeader header{start, *key, 0, {}, {}};
  for (u64 at = start; at < end; at += word) {
    const u32 clear = load(bytes, at) ^ *key;
    header.clear.resize(header.clear.size() + word);
    std::memcpy(header.clear.data() + (at - start), &clear, word);
  }
  for (u64 at = start + start_size; at + entry_size <= end; at += entry_size) {
    const u32 tool = load(bytes, at) ^ *key;
    header.entries.push_back(
        {static_cast<u16>(tool >> 16), static_cast<u16>(tool), load(bytes, at + word) ^ *key});
  }
  header.computed_key = compute_key(bytes.first(start), header.entries);
  return header;
}

}  // namespace coldtrace::pe
