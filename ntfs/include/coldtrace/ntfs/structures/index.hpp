#pragma once

#include <optional>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/structures/file_name.hpp"
#include "coldtrace/ntfs/structures/reference.hpp"

namespace coldtrace::ntfs {

// The header of a node of an index, in $INDEX_ROOT and in each INDX buffer. Offsets count from the
// node header. Source: linux-ntfs documentation, "Index Header".
struct IndexNode {
  core::ByteView entries;  // from the first entry to the end of what is used
  core::ByteView slack;    // from there to the end of what is allocated
  u64 entries_offset;      // in the image
  bool has_children;
  bool misallocated;  // allocated is less than what is used, or more than exists
};

// The value of an $INDEX_ROOT.
struct IndexRoot {
  u32 buffer_size;  // of this index: bytes of one INDX buffer
  IndexNode node;
};

// The indexed data: an attribute by its type, or data of the index itself.
constexpr u32 file_name_index = 0x30;
constexpr u32 view_index = 0;

// `value` is that of an $INDEX_ROOT attribute, at byte `offset` of the image.
core::Result<IndexRoot> read_index_root(core::ByteView value, u64 offset,
                                        u32 indexed_type = file_name_index);

// One INDX buffer, after its fixups.
struct IndexBuffer {
  u64 vcn;  // its own address, as its parents write it
  IndexNode node;
};

// `buffer` has its fixups undone and lies at byte `offset` of the image.
core::Result<IndexBuffer> read_index_buffer(core::ByteView buffer, u64 offset);

// Buffers are addressed in clusters, or in 512-byte units where a cluster is larger than a
// buffer. Source: linux-ntfs documentation; observed on volumes with clusters of 64 KiB and more.
[[nodiscard]] constexpr u32 index_vcn_unit(u32 buffer_size, u32 cluster_size) {
  return cluster_size <= buffer_size ? cluster_size : 512;
}

// An entry of a directory's index.
struct IndexEntry {
  FileReference file;
  std::optional<FileName> name;  // absent in the last entry of a node
  std::optional<u64> child_vcn;  // of the node with what sorts before this entry
  u64 offset;                    // in the image
  bool file_known = true;        // false: the head with `file` may be overwritten
};

// False for the last entry of a node.
[[nodiscard]] inline bool has_name(const IndexEntry& entry) {
  return entry.name.has_value();
}

// The entries of one node in stored order. Ends after the last entry or at the first invalid one,
// which `damage()` then reports.
class IndexEntryReader {
 public:
  explicit IndexEntryReader(const IndexNode& node)
      : entries_{node.entries}, base_{node.entries_offset} {}

  // Nothing behind the last entry, or from one on that cannot be.
  std::optional<IndexEntry> next();
  [[nodiscard]] const std::optional<core::ParseError>& damage() const { return damage_; }
  // From the first invalid entry on.
  [[nodiscard]] core::ByteView rest() const { return entries_.subspan(at_); }
  [[nodiscard]] u64 rest_offset() const { return base_ + at_; }

  // Calls `visit(record)` for the records that the entries name, without checking the entries.
  template <class Visit>
  static void for_each_record(const IndexNode& node, Visit&& visit) {
    for (u64 at = 0; node.entries.size() - at >= entry_head;) {
      const auto head = *core::Fields<entry_head>::at(node.entries, at);
      const u16 length = head.get<u16, 8>();
      if (length < entry_head || length > node.entries.size() - at) return;
      visit(to_file_reference(head.get<u64, 0>()).record);
      at += length;
    }
  }

 private:
  static constexpr std::size_t entry_head = 0x10;
  std::optional<IndexEntry> stop(core::Fault fault, core::Name field, u64 expected, u64 found);

  core::ByteView entries_;
  u64 base_;
  u64 at_ = 0;
  bool done_ = false;
  std::optional<core::ParseError> damage_;
};

// Entries left in the unused bytes of a node, which follow its used ones: found by their keys in
// steps of 8 bytes, and kept if parent, name and times are plausible. Only names of `directory`
// count.
class IndexSlackReader {
 public:
  IndexSlackReader(core::BorrowedBytes slack, u64 offset, u64 directory)
      : slack_{slack.get()}, base_{offset}, directory_{directory} {}

  // Nothing when all bytes were looked at.
  std::optional<IndexEntry> next();

 private:
  core::ByteView slack_;
  u64 base_;
  u64 directory_;
  u64 at_ = 0;  // of the next key
};

}  // namespace coldtrace::ntfs
