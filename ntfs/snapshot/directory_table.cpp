#include "coldtrace/ntfs/directory_table.hpp"

#include <algorithm>

namespace coldtrace::ntfs {

DirectoryTable DirectoryTable::from_names(const RecordTable& records) {
  struct Child {
    u32 parent;
    u32 record;
    u32 link;
    auto operator<=>(const Child&) const = default;
  };
  DirectoryTable table;
  std::vector<Child> children;
  RecordFacts facts;
  for (u64 record = 0; record < records.size(); ++record) {
    if (!records.has(record) || !records.summary(record).in_use) continue;
    if (records.summary(record).extension) continue;
    records.assemble(record, facts);
    const ShortHalves halves{facts};
    for (u32 link = 0; link < facts.names.size(); ++link) {
      const auto& name = facts.names[link];
      const bool self = record == root_record && name.parent.record == root_record;
      if (!records.has(name.parent.record) || self || halves.contains(name)) continue;
      const auto parent = records.summary(name.parent.record);
      if (parent.in_use && parent.directory &&
          (name.parent.sequence == 0 || name.parent.sequence == parent.sequence))
        children.push_back({static_cast<u32>(name.parent.record), static_cast<u32>(record), link});
    }
  }
  std::ranges::sort(children);

  constexpr std::size_t in_node = 4096;
  Arena::Writer writer{*table.arena_};
  NodePacker packer;
  for (std::size_t i = 0; i < children.size();) {
    const u32 parent = children[i].parent;
    Directory directory{.record = parent,
                        .sequence = records.summary(parent).sequence,
                        .vcn_shift = 0,
                        .first_buffer = static_cast<u32>(table.buffers_.size())};
    while (i < children.size() && children[i].parent == parent) {
      packer.begin();
      for (std::size_t n = 0; n < in_node && i < children.size() && children[i].parent == parent;
           ++n, ++i)
        packer.add_without_index(children[i].record, children[i].link);
      table.buffers_.push_back(writer.add(packer.end()));
      ++directory.buffer_count;
    }
    table.directories_.push_back(directory);
  }
  table.number_directories(records.size());
  return table;
}

void DirectoryTable::number_directories(u64 records) {
  by_record_.reserve(records);
  advise_huge_pages(by_record_.data(), records * sizeof(u32));
  by_record_.assign(records, absent);
  for (std::size_t i = 0; i < directories_.size(); ++i)
    by_record_[directories_[i].record] = static_cast<u32>(i);
}

u64 DirectoryTable::memory() const {
  return arena_->bytes() + directories_.capacity() * sizeof(Directory) +
         (buffers_.capacity() + by_record_.capacity()) * sizeof(u32);
}

}  // namespace coldtrace::ntfs
