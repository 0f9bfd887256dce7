#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/mft.hpp"
#include "coldtrace/ntfs/record_facts.hpp"
#include "coldtrace/ntfs/structures/index.hpp"

namespace coldtrace::ntfs {

// Where the nodes of one directory's index are.
struct DirectoryIndex {
  std::optional<IndexNode> root;  // a view of the facts
  u32 buffer_size = 4096;         // without a root: that of nearly all volumes
  u8 vcn_shift = 0;               // log2 of the VCN units per buffer
  u64 buffer_count = 0;
  bool cut = false;  // it may have more buffers, or others
  std::vector<Extent> extents;
  std::vector<std::byte> used;  // one bit per buffer

  [[nodiscard]] bool is_used(u64 buffer) const {
    return (std::to_integer<unsigned>(used[buffer / 8]) >> buffer % 8 & 1) != 0;
  }
};

// `facts` are those of the whole file. Nothing for a directory without any index. Buffers beyond
// `most_buffers` are left out with a finding.
[[nodiscard]] std::optional<DirectoryIndex> read_directory_index(const core::ImageSource& image,
                                                                 const Mft& mft,
                                                                 const RecordFacts& facts,
                                                                 u64 most_buffers,
                                                                 core::Findings& findings);

// A used buffer of a directory's index.
struct DirectoryBuffer {
  std::optional<IndexNode> node;  // absent: its head is damaged
  // Only partly written: of a file that is there, an entry counts only if the record agrees.
  bool torn = false;
  // Its place or its head is damaged: an entry counts only if the record agrees.
  bool may_repeat = false;
};

// Applies the fixups to `bytes`, which lie at `offset`, and notes what is wrong.
DirectoryBuffer read_directory_buffer(std::span<std::byte> bytes, u64 offset, u8 vcn_shift,
                                      u64 number, u64 directory, core::Findings& findings);

// Whether an entry says that it belongs to this directory.
[[nodiscard]] inline bool is_entry_of(const IndexEntry& entry, FileReference directory) {
  return entry.name && entry.name->parent.record == directory.record &&
         (entry.name->parent.sequence == directory.sequence || entry.name->parent.sequence == 0);
}

}  // namespace coldtrace::ntfs
