#include "coldtrace/pe/rich_header.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "coldtrace/core/unreadable.hpp"

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

std::optional<u64> find_start(core::ByteView bytes, u64 end, u32 key) {
  for (u64 at = end; at >= dos_header_size + word;) {
    at -= word;
    if (at + start_size <= end && (load(bytes, at) ^ key) == start_mark) return at;
  }
  return std::nullopt;
}

// A start that shows its key in the zeros behind it.
std::optional<u64> find_start_with_key(core::ByteView bytes) {
  for (u64 at = dos_header_size; at + start_size <= bytes.size(); at += word) {
    const u32 key = load(bytes, at + word);
    if (key != 0 && (load(bytes, at) ^ key) == start_mark && load(bytes, at + 2 * word) == key &&
        load(bytes, at + 3 * word) == key)
      return at;
  }
  return std::nullopt;
}

RichHeader read_rich_header(core::ByteView bytes, u64 start, u64 end, u32 key) {
  RichHeader header{start, key, 0, {}, {}};
  for (u64 at = start; at < end; at += word) {
    const u32 clear = load(bytes, at) ^ key;
    header.clear.resize(header.clear.size() + word);
    std::memcpy(header.clear.data() + (at - start), &clear, word);
  }
  for (u64 at = start + start_size; at + entry_size <= end; at += entry_size) {
    const u32 tool = load(bytes, at) ^ key;
    header.entries.push_back(
        {static_cast<u16>(tool >> 16), static_cast<u16>(tool), load(bytes, at + word) ^ key});
  }
  header.computed_key = compute_key(bytes.first(start), header.entries);
  return header;
}

// What the checksum does not cover is checked for itself.
void check(const RichHeader& header, core::Findings& findings) {
  if (header.key != header.computed_key)
    findings.warning("rich-header", header.offset,
                     "the key of the Rich header is {:#010x}, but DOS header, stub and entries "
                     "give {:#010x}: they were changed",
                     header.key, header.computed_key);
  const core::ByteView clear{header.clear};
  for (u64 at = word; at < start_size; at += word)
    if (load(clear, at) != 0)
      findings.warning("rich-header", header.offset + at,
                       "a word after the start of the Rich header is {:#010x}, not 0",
                       load(clear, at));
  if ((clear.size() - start_size) % entry_size != 0)
    findings.warning("rich-header", header.offset + clear.size() - word,
                     "the last entry of the Rich header has no count");
}

}  // namespace

std::optional<RichHeader> find_rich_header(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  constexpr u64 farthest = 0x1000;  // where anything was ever seen is a tenth of it
  const auto bytes =
      image.file().clip(0, std::min<u64>(image.dos_header().new_header_offset, farthest));
  std::optional<u64> lone_end;
  for (u64 end = bytes.size() / word * word; end > dos_header_size;) {
    end -= word;
    if (load(bytes, end) != end_mark) continue;
    const auto key = core::load<u32>(bytes, end + word);
    if (const auto start = key ? find_start(bytes, end, *key) : std::nullopt) {
      auto header = read_rich_header(bytes, *start, end, *key);
      check(header, findings);
      return header;
    }
    lone_end = end;
  }
  if (lone_end)
    findings.warning("rich-header", *lone_end,
                     "\"Rich\" ends a Rich header, but no start with its key precedes it");
  else if (const auto start = find_start_with_key(bytes))
    findings.warning("rich-header", *start, "a Rich header starts here, but no \"Rich\" ends it");
  return std::nullopt;
}

}  // namespace coldtrace::pe
