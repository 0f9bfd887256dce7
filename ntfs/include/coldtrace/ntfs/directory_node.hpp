#pragma once

#include <optional>

#include "coldtrace/ntfs/packed.hpp"
#include "coldtrace/ntfs/record_facts.hpp"
#include "coldtrace/ntfs/structures/index.hpp"

namespace coldtrace::ntfs {

// How an entry of a directory and the record that it names agree.
enum class EntryMatch : u8 {
  listed,    // the record has this name in this directory
  unlisted,  // the record is the right one and has no such name
  stale,     // the record is not in use, is another file's by now, or does not exist
};

// What an entry says that no record confirms.
struct EntryFacts {
  u64 offset = 0;  // of the entry in the image
  u64 size = 0;
  u64 allocated = 0;
  u32 attributes = 0;      // as $FILE_NAME has them: FileName::directory_flag among them
  u32 copies = 1;          // the same in slack as often
  bool file_known = true;  // false: the number of the file's record is overwritten
};

// One entry of a node as it is kept for the walk.
struct NodeEntry {
  std::optional<u64> child_vcn;
  bool named = false;  // false: only a pointer to a child node
  EntryMatch match = EntryMatch::listed;
  bool indexed = true;  // false: made from names in records, because there is no index
  FileReference file;   // without sequence when listed: it is the record's own
  u32 link = 0;         // listed: which of the record's names

  // Times of the entry that differ from those of the record; decode_index_times() reads them.
  core::ByteView packed_times;
  // Not listed: what the entry itself says.
  StoredText name;
  Times times;
  EntryFacts facts;
  NameSpace name_space = NameSpace::win32;
  // The size in the entry where it is not that of the file.
  std::optional<u64> stale_size;
};

// Of the last entry of a node false.
[[nodiscard]] inline bool has_name(const NodeEntry& entry) {
  return entry.named;
}

// Packs the entries of one node, each as it matches the record it names.
class NodePacker {
 public:
  void begin() { out_.clear(); }
  // An entry that leads to a record; `facts` is that of the file, or null when it is stale.
  void add(const IndexEntry& entry, FileReference directory, const RecordFacts* facts);
  // An entry for a name that no index holds.
  void add_without_index(u64 record, u32 link);
  void add_pointer(u64 child_vcn);
  core::ByteView end();

 private:
  PackedWriter out_;
};

// Reads a packed node; nothing behind the last entry.
class NodeReader {
 public:
  explicit NodeReader(core::BorrowedBytes piece) : in_{piece} {}
  // The entries in the order in which they were added.
  std::optional<NodeEntry> next();

 private:
  PackedReader in_;
};

// The times that the entry of a listed name held.
[[nodiscard]] Times decode_index_times(core::ByteView packed, const RecordFacts& facts,
                                       const FileName& name);

// The name of `facts` that an entry of `directory` is about.
[[nodiscard]] std::optional<u32> find_link(const RecordFacts& facts, const FileName& name,
                                           FileReference directory);

// The short name of a link, if it has one.
[[nodiscard]] const FileName* find_short_name(const RecordFacts& facts, const FileName& name);

}  // namespace coldtrace::ntfs
