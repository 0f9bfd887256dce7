#include "coldtrace/ntfs/directory_node.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace coldtrace::ntfs {
namespace {

enum EntryBit : u8 {
  bit_end = 1,
  bit_child = 2,
  bit_named = 4,
  bit_match = 8,  // two bits: EntryMatch
  bit_size = 0x20,
  bit_no_index = 0x40,
  bit_no_file = 0x80,
};
constexpr unsigned match_shift = 3;

std::array<u64, 4> in_order(const Times& times) {
  return {times.created.ticks, times.modified.ticks, times.changed.ticks, times.accessed.ticks};
}

constexpr std::array<u64, 4> no_times{};

std::array<u64, 4> information_times(const RecordFacts& facts) {
  return facts.information ? in_order(facts.information->times) : no_times;
}

// Low four bits: the time is that of $STANDARD_INFORMATION; high four: that of $FILE_NAME.
// Only other times follow.
void put_times(const Times& times, const RecordFacts& facts, const FileName& name,
               PackedWriter& out) {
  const auto stored = in_order(times);
  const auto information = information_times(facts);
  const auto linked = in_order(name.times);
  unsigned same = 0;
  for (unsigned i = 0; i < 4; ++i) {
    if (stored[i] == information[i]) {
      same |= 1U << i;
    } else if (stored[i] == linked[i]) {
      same |= 0x10U << i;
    }
  }
  out.put_raw(static_cast<u8>(same));
  for (unsigned i = 0; i < 4; ++i)
    if ((same & 0x11U << i) == 0) out.put_raw(stored[i]);
}

// The size of the file's content where a record tells it.
std::optional<u64> content_size(const RecordFacts& facts) {
  // The sizes of system files in the root's index are those of when the volume was made.
  if (facts.directory || facts.record < first_user_record) return std::nullopt;
  return facts.content_size;
}

}  // namespace

const FileName* find_short_name(const RecordFacts& facts, const FileName& name) {
  if (name.name_space != NameSpace::win32) return nullptr;
  for (const auto& other : facts.names)
    if (other.name_space == NameSpace::dos && other.parent == name.parent) return &other;
  return nullptr;
}

std::optional<u32> find_link(const RecordFacts& facts, const FileName& name,
                             FileReference directory) {
  for (u32 i = 0; i < facts.names.size(); ++i) {
    const auto& own = facts.names[i];
    const bool same_parent =
        own.parent.record == directory.record &&
        (own.parent.sequence == directory.sequence || own.parent.sequence == 0);
    if (same_parent && own.name_space == name.name_space && own.name == name.name) return i;
  }
  return std::nullopt;
}

void NodePacker::add_pointer(u64 child_vcn) {
  out_.put_raw(static_cast<u8>(bit_child));
  out_.put(child_vcn);
}

void NodePacker::add_without_index(u64 record, u32 link) {
  out_.put_raw(static_cast<u8>(bit_named | bit_no_index));
  out_.put(record);
  out_.put(link);
}

void NodePacker::add(const IndexEntry& entry, FileReference directory, const RecordFacts* facts) {
  const auto& name = *entry.name;
  const auto found = facts ? find_link(*facts, name, directory) : std::nullopt;
  // Not an optional: g++ 12 reports -Wmaybe-uninitialized on it.
  const FileName* link = found ? &facts->names[*found] : nullptr;
  if (link && is_short_half(*facts, *link)) {
    if (entry.child_vcn) add_pointer(*entry.child_vcn);
    return;
  }
  const auto match = link ? EntryMatch::listed : facts ? EntryMatch::unlisted : EntryMatch::stale;
  const auto size = link ? content_size(*facts) : std::nullopt;
  const bool stale_size = size && *size != name.size;
  out_.put_raw(static_cast<u8>(
      bit_named | (entry.child_vcn ? bit_child : 0) | static_cast<unsigned>(match) << match_shift |
      (stale_size ? bit_size : 0) | (entry.file_known || facts ? 0 : bit_no_file)));
  if (entry.child_vcn) out_.put(*entry.child_vcn);
  out_.put(entry.file.record);
  if (link) {
    out_.put(static_cast<u64>(link - facts->names.data()));
    put_times(name.times, *facts, *link, out_);
  } else {
    out_.put_raw(entry.file.sequence);
    for (const auto ticks : in_order(name.times)) out_.put_raw(ticks);
    out_.put(entry.offset);
    out_.put(name.size);
    out_.put(name.allocated_size);
    out_.put(name.flags);
    out_.put_raw(static_cast<u8>(name.name_space));
    out_.put_raw(static_cast<u8>(name.name.units()));
    out_.put_bytes(name.name.bytes);
  }
  if (stale_size) out_.put(name.size);
}

core::ByteView NodePacker::end() {
  out_.put_raw(static_cast<u8>(bit_end));
  return out_.view();
}

std::optional<NodeEntry> NodeReader::next() {
  const auto bits = in_.get_raw<u8>();
  if (bits & bit_end) return std::nullopt;
  NodeEntry entry;
  if (bits & bit_child) entry.child_vcn = in_.get();
  entry.named = (bits & bit_named) != 0;
  if (!entry.named) return entry;
  entry.match = static_cast<EntryMatch>(bits >> match_shift & 3);
  entry.indexed = (bits & bit_no_index) == 0;
  entry.file.record = in_.get();
  if (entry.match == EntryMatch::listed) {
    entry.link = static_cast<u32>(in_.get());
    if (entry.indexed) {
      const auto same = in_.get_raw<u8>();
      const auto apart = 4U - static_cast<unsigned>(std::popcount(same));
      // The byte before the times says which they are.
      const auto times = in_.get_bytes(std::size_t{8} * apart);
      entry.packed_times = {times.data() - 1, times.size() + 1};
    }
  } else {
    entry.file.sequence = in_.get_raw<u16>();
    entry.times.created.ticks = in_.get_raw<u64>();
    entry.times.modified.ticks = in_.get_raw<u64>();
    entry.times.changed.ticks = in_.get_raw<u64>();
    entry.times.accessed.ticks = in_.get_raw<u64>();
    entry.facts.offset = in_.get();
    entry.facts.size = in_.get();
    entry.facts.allocated = in_.get();
    entry.facts.attributes = static_cast<u32>(in_.get());
    entry.facts.file_known = (bits & bit_no_file) == 0;
    entry.name_space = static_cast<NameSpace>(in_.get_raw<u8>());
    const std::size_t units = in_.get_raw<u8>();
    entry.name = to_stored_text(in_.get_bytes(units * 2));
  }
  if (bits & bit_size) entry.stale_size = in_.get();
  return entry;
}

Times decode_index_times(core::ByteView packed, const RecordFacts& facts, const FileName& name) {
  PackedReader in{packed};
  const auto same = in.get_raw<u8>();
  const auto information = information_times(facts);
  const auto linked = in_order(name.times);
  const auto time = [&](unsigned i) -> core::FileTime {
    if (same & 1U << i) return {information[i]};
    if (same & 0x10U << i) return {linked[i]};
    return {in.get_raw<u64>()};
  };
  return Times{time(0), time(1), time(2), time(3)};
}

}  // namespace coldtrace::ntfs
