#pragma once

#include <optional>

#include "coldtrace/ntfs/packed.hpp"
#include "coldtrace/ntfs/record_facts.hpp"
#include "coldtrace/ntfs/structures/index.hpp"

namespace coldtrace::ntfs {

// How an entry of a directory and the record that it names agree.
enum class EntryMatch : u8 {
  listed,    // the record has this name in this directory
  unlisted,  // the record is the right one but has no such name
  stale,     // the record is not in use, now belongs to another file, or does not exist
};

// What an entry says that no record confirms.
struct EntryFacts {
  u64 offset = 0;  // of the entry in the image
  u64 size = 0;
  u64 allocated = 0;
  u32 attributes = 0;      // as in $FILE_NAME, including FileName::directory_flag
  u32 copies = 1;          // number of identical entries in slack
  bool file_known = true;  // false: the number of the file's record is overwritten
};

// One entry of a node as it is kept for the walk.
struct NodeEntry {
  std::optional<u64> child_vcn;
  bool named = false;  // false: only a pointer to a child node
  EntryMatch match = EntryMatch::listed;
  bool indexed = true;  // false: made from names in records, because there is no index
  FileReference file;   // without sequence if listed: it is the record's own
  u32 link = 0;         // listed: which of the record's names

  // Times of the entry that differ from those of the record; decode_index_times() reads them.
  core::ByteView packed_times;
  // Not listed: the entry's own data.
  StoredText name;
  Times times;
  EntryFacts facts;
  NameSpace name_space = NameSpace::win32;
  // The size in the entry if it differs from that of the file.
  std::optional<u64> stale_size;
};

// False for the last entry of a node.
[[nodiscard]] inline bool has_name(const NodeEntry& entry) {
  return entry.named;
}

// Packs the entries of one node, each with how it matches the record that it names.
class NodePacker {
 public:
  void begin() { out_.clear(); }
  // An entry that leads to a record; `facts` is that of the file, or null if it is stale.
  void add(const IndexEntry& entry, FileReference directory, const RecordFacts* facts);
  // An entry for a name that no index contains.
  void add_without_index(u64 record, u32 link);
  void add_pointer(u64 child_vcn);
  core::ByteView end();

 private:
  PackedWriter out_;
};

// Reads a packed node; gives nothing after the last entry.
class NodeReader {
 public:
  explicit NodeReader(core::BorrowedBytes piece) : in_{piece} {}
  // The entries in the order in which they were added.
  std::optional<NodeEntry> next();

 private:
  PackedReader in_;
};

// The times in the entry of a listed name.
[[nodiscard]] Times decode_index_times(core::ByteView packed, const RecordFacts& facts,
                                       const FileName& name);

// The name of `facts` to which an entry of `directory` refers.
[[nodiscard]] std::optional<u32> find_link(const RecordFacts& facts, const FileName& name,
                                           FileReference directory);

// The short name of a link, if it has one.
[[nodiscard]] const FileName* find_short_name(const RecordFacts& facts, const FileName& name);

}  // namespace coldtrace::ntfs
