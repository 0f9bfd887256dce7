#include "coldtrace/ntfs/structures/index.hpp"

#include <algorithm>

#include "coldtrace/ntfs/structures/fixup.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

constexpr u32 magic_indx = 0x58444e49;  // "INDX"
constexpr u64 entry_head = 0x10;
constexpr u16 entry_has_child = 1;
constexpr u16 entry_is_last = 2;

// `bytes` start with the node header, which lies at `offset` of the image.
core::Result<IndexNode> read_node(core::ByteView bytes, u64 offset) {
  const auto fields = core::Fields<0x10>::at(bytes, 0);
  if (!fields)
    return core::fail({Fault::truncated, offset, "index node", "header", 0x10, bytes.size()});
  const u32 first = fields->get<u32, 0>();
  const u32 used = fields->get<u32, 4>();
  const u32 allocated = fields->get<u32, 8>();
  if (first < 0x10 || first > used)
    return core::fail({Fault::bad_value, offset, "index node", "FirstEntry", 0x10, first});
  if (used > bytes.size())
    return core::fail(
        {Fault::out_of_bounds, offset + 4, "index node", "UsedSize", bytes.size(), used});
  const auto end = std::clamp<u64>(allocated, used, bytes.size());
  return IndexNode{.entries = bytes.subspan(first, used - first),
                   .slack = bytes.subspan(used, end - used),
                   .entries_offset = offset + first,
                   .has_children = (fields->get<u32, 12>() & 1) != 0,
                   .misallocated = end != allocated};
}

}  // namespace

core::Result<IndexRoot> read_index_root(core::ByteView value, u64 offset, u32 indexed_type) {
  core::Reader in{value, "$INDEX_ROOT", offset};
  in.expect<u32>(indexed_type, "IndexedType", Fault::unsupported);
  in.skip(4, "Collation");
  const u32 buffer_size = in.read_u32("BufferSize");
  if (buffer_size < 512 || buffer_size > 65536 || (buffer_size & (buffer_size - 1)) != 0)
    in.reject(Fault::bad_value, offset + 8, "BufferSize", 4096, buffer_size);
  in.skip(4, "ClustersPerBuffer");
  if (!in.ok()) return core::fail(in.error());
  return IndexRoot{buffer_size, COLDTRACE_TRY(read_node(value.subspan(0x10), offset + 0x10))};
}

core::Result<IndexBuffer> read_index_buffer(core::ByteView buffer, u64 offset) {
  core::Reader in{buffer, "INDX", offset};
  in.expect<u32>(magic_indx, "Magic");
  in.skip(12, "FixupAndLsn");
  const u64 vcn = in.read_u64("Vcn");
  if (!in.ok()) return core::fail(in.error());
  return IndexBuffer{vcn, COLDTRACE_TRY(read_node(buffer.subspan(0x18), offset + 0x18))};
}

std::optional<IndexEntry> IndexEntryReader::stop(Fault fault, core::Name field, u64 expected,
                                                 u64 found) {
  damage_ = core::ParseError{fault, base_ + at_, "index entry", field, expected, found};
  done_ = true;
  return std::nullopt;
}

std::optional<IndexEntry> IndexEntryReader::next() {
  if (done_) return std::nullopt;
  const auto head = core::Fields<entry_head>::at(entries_, at_);
  const u64 left = entries_.size() - at_;
  if (!head) return stop(Fault::truncated, "entry", entry_head, left);
  const u16 length = head->get<u16, 8>();
  const u16 key_length = head->get<u16, 0x0a>();
  const u16 flags = head->get<u16, 0x0c>();
  const bool has_child = (flags & entry_has_child) != 0;
  const bool last = (flags & entry_is_last) != 0;
  if (length < entry_head + (has_child ? 8 : 0) || length % 8 != 0 || length > left)
    return stop(Fault::bad_value, "EntryLength", left, length);
  const auto bytes = entries_.subspan(at_, length);
  IndexEntry entry{.file = to_file_reference(head->get<u64, 0>()),
                   .name = std::nullopt,
                   .child_vcn = std::nullopt,
                   .offset = base_ + at_};
  if (has_child) entry.child_vcn = core::load<u64>(bytes, length - u64{8});
  if (!last) {
    const auto key = core::slice(bytes, entry_head, key_length);
    if (!key) return stop(Fault::out_of_bounds, "KeyLength", length - entry_head, key_length);
    auto name = read_file_name(*key, entry.offset + entry_head);
    if (!name) {
      damage_ = name.error();
      done_ = true;
      return std::nullopt;
    }
    entry.name = *name;
  }
  at_ += length;
  done_ = last;
  return entry;
}

std::optional<IndexEntry> IndexSlackReader::next() {
  for (; at_ < slack_.size() && slack_.size() - at_ >= FileName::fixed_size + 2; at_ += 8) {
    const auto name = read_file_name(slack_.subspan(at_), base_ + at_);
    if (!name || name->parent.record != directory_ || !is_plausible(*name)) continue;
    const u64 key_size = FileName::fixed_size + name->name.bytes.size();
    IndexEntry entry{.file = {},
                     .name = *name,
                     .child_vcn = std::nullopt,
                     .offset = base_ + at_ - entry_head,
                     .file_known = false};
    // The end of a node moves forward over the heads of removed entries: what they say counts
    // where their lengths are those of the name. That of the first one is before the slack.
    if (at_ >= entry_head) {
      const auto head = *core::Fields<entry_head>::at(slack_, at_ - entry_head);
      const u16 length = head.get<u16, 8>();
      entry.file = to_file_reference(head.get<u64, 0>());
      entry.file_known =
          length % 8 == 0 && length >= entry_head + key_size && head.get<u16, 0x0a>() == key_size;
    }
    at_ += (entry_head + key_size + 7) / 8 * 8;
    return entry;
  }
  return std::nullopt;
}

}  // namespace coldtrace::ntfs
