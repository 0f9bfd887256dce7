#include "ntfs/volume/security_owners.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace coldtrace::ntfs {

struct SecurityOwnersReader::Entry {
  u32 id;
  u64 position;  // of the first of its two copies
  core::ByteView descriptor;
  u32 hash;    // of the descriptor
  bool sound;  // it is the one beside it

  static constexpr u64 head_size = 20;
  [[nodiscard]] u64 length() const { return head_size + descriptor.size(); }
};

struct SecurityOwnersReader::Copies {
  std::optional<Entry> main, copy;
  bool main_expected;  // its block was read
};

namespace {

u32 hash_descriptor(core::ByteView descriptor) {
  u32 hash = 0;
  for (u64 at = 0; at + 4 <= descriptor.size(); at += 4)
    hash = *core::load<u32>(descriptor, at) + std::rotl(hash, 3);
  return hash;
}

template <typename Entry, typename Visit>
void for_each_entry(core::ByteView block, u64 position, Visit visit) {
  constexpr u64 head_size = Entry::head_size;
  for (u64 at = 0; at < block.size();) {
    const auto head = core::Fields<head_size>::at(block, at);
    if (!head) return;
    const u32 id = head->template get<u32, 4>();
    const u32 length = head->template get<u32, 0x10>();
    // Zeros fill a block behind its last entry.
    if (id == 0 && length == 0) return;
    const auto descriptor =
        length < head_size ? std::nullopt : core::slice(block, at + head_size, length - head_size);
    // Behind the last entry there may be anything: clusters are not cleared for the stream.
    if (head->template get<u64, 8>() != position + at || !descriptor) {
      at += 16;
      continue;
    }
    const u32 hash = hash_descriptor(*descriptor);
    visit(Entry{.id = id,
                .position = position + at,
                .descriptor = *descriptor,
                .hash = hash,
                .sound = head->template get<u32, 0>() == hash});
    at += (u64{length} + 15) / 16 * 16;
  }
}

}  // namespace

void SecurityOwnersReader::add(const SecurityBlock& block) {
  std::map<u64, Copies> entries;
  const bool main_expected = !block.main.empty();
  for_each_entry<Entry>(block.main, block.position, [&](const Entry& entry) {
    entries.emplace(entry.position, Copies{entry, std::nullopt, main_expected});
  });
  for_each_entry<Entry>(block.copy, block.position, [&](const Entry& entry) {
    entries.try_emplace(entry.position, Copies{std::nullopt, std::nullopt, main_expected})
        .first->second.copy = entry;
  });
  for (const auto& [position, copies] : entries) add(copies);
}

void SecurityOwnersReader::add(const Copies& copies) {
  const auto& [main, copy, main_expected] = copies;
  const bool copy_sound = copy && copy->sound;
  const Entry& entry = main && (main->sound || !copy_sound) ? *main : *copy;
  const bool same = main && copy && std::ranges::equal(main->descriptor, copy->descriptor);
  const bool usable = entry.sound || same;
  const bool fits = main ? main->sound && (!copy || copy_sound) : copy_sound && !main_expected;
  if (!fits) {
    faults_.unfit.add(entry.id, entry.position);
    if (!usable) ++faults_.unused;
  }

  const auto* listed = find_listed(entry);
  const bool one_id = !main || !copy || main->id == copy->id;
  if (!one_id || (listed && (listed->id != entry.id || listed->length != entry.length() ||
                             (usable && listed->hash != entry.hash))))
    faults_.contradictory.add(listed ? listed->id : entry.id, entry.position);
  if (!usable || (!listed && !one_id)) return;
  const auto owner = find_owner(entry.descriptor);
  if (!owner) return;
  if (listed) {
    listed_.emplace(listed->id, sid_to_string(*owner));
  } else {
    unlisted_.emplace(entry.id, sid_to_string(*owner));
  }
}

// Two ids may have one position where $SII is damaged: then the one that the entry has.
const SecurityIndexEntry* SecurityOwnersReader::find_listed(const Entry& entry) {
  const auto first =
      std::ranges::lower_bound(index_, entry.position, {}, &SecurityIndexEntry::position);
  if (first == index_.end() || first->position != entry.position) return nullptr;
  auto found = first;
  while (found != index_.end() && found->position == entry.position && found->id != entry.id)
    ++found;
  if (found == index_.end() || found->position != entry.position) found = first;
  met_[static_cast<std::size_t>(found - index_.begin())] = true;
  return &*found;
}

SecurityOwners SecurityOwnersReader::finish() {
  for (std::size_t i = 0; i < index_.size(); ++i)
    if (!met_[i]) faults_.contradictory.add(index_[i].id, index_[i].position);
  listed_.merge(unlisted_);
  return std::move(listed_);
}

}  // namespace coldtrace::ntfs
