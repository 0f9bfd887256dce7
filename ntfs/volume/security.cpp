#include "coldtrace/ntfs/security.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include <fmt/format.h>

namespace coldtrace::ntfs {
namespace {

struct SecurityEntry {
  u32 id;
  u64 position;  // of the first of its two copies
  core::ByteView descriptor;
  bool sound;  // the hash is the descriptor's
};

// Source: linux-ntfs documentation, "$Secure".
u32 hash_descriptor(core::ByteView descriptor) {
  u32 hash = 0;
  for (u64 at = 0; at + 4 <= descriptor.size(); at += 4)
    hash = *core::load<u32>(descriptor, at) + std::rotl(hash, 3);
  return hash;
}

template <typename Visit>
void for_each_entry(core::ByteView block, u64 position, Visit visit) {
  constexpr u64 head_size = 20;
  for (u64 at = 0; at < block.size();) {
    const auto head = core::Fields<head_size>::at(block, at);
    if (!head) return;
    const u32 id = head->get<u32, 4>();
    const u32 length = head->get<u32, 0x10>();
    // Zeros fill a block behind its last entry.
    if (id == 0 && length == 0) return;
    const auto descriptor =
        length < head_size ? std::nullopt : core::slice(block, at + head_size, length - head_size);
    // Behind the last entry there may be anything: clusters are not cleared for the stream.
    if (head->get<u64, 8>() != position + at || !descriptor) {
      at += 16;
      continue;
    }
    visit(SecurityEntry{.id = id,
                        .position = position + at,
                        .descriptor = *descriptor,
                        .sound = head->get<u32, 0>() == hash_descriptor(*descriptor)});
    at += (u64{length} + 15) / 16 * 16;
  }
}

}  // namespace

std::optional<core::ByteView> slice_sid(core::ByteView bytes, u64 offset) {
  const auto revision = core::load<u8>(bytes, offset);
  const auto count = core::load<u8>(bytes, offset + 1);
  if (!revision || !count || *revision != 1 || *count > 15) return std::nullopt;
  return core::slice(bytes, offset, 8 + u64{*count} * 4);
}

std::string sid_to_string(core::ByteView sid) {
  if (sid.size() < 8) return {};
  u64 authority = 0;
  for (std::size_t i = 2; i < 8; ++i) authority = authority << 8 | std::to_integer<u64>(sid[i]);
  // Source: [MS-DTYP] 2.4.2.1: authorities above 32 bits are hexadecimal.
  std::string text = authority >> 32 ? fmt::format("S-{}-{:#014x}", u8(sid[0]), authority)
                                     : fmt::format("S-{}-{}", u8(sid[0]), authority);
  for (u64 at = 8; at + 4 <= sid.size(); at += 4)
    fmt::format_to(std::back_inserter(text), "-{}", *core::load<u32>(sid, at));
  return text;
}

std::optional<core::ByteView> find_owner(core::ByteView descriptor) {
  constexpr u32 head_size = 20;
  const auto offset = core::load<u32>(descriptor, 4);
  if (core::load<u8>(descriptor, 0) != u8{1} || !offset || descriptor.size() < head_size)
    return std::nullopt;
  if (*offset == 0) return core::ByteView{};
  return *offset < head_size ? std::nullopt : slice_sid(descriptor, *offset);
}

void add_security_owners(const SecurityBlock& block, SecurityOwners& owners,
                         SecurityFaults& faults) {
  std::map<u64, SecurityEntry> copies;
  for_each_entry(block.copy, block.position,
                 [&](const SecurityEntry& entry) { copies.emplace(entry.position, entry); });
  const auto add = [&](const SecurityEntry& entry) {
    if (const auto owner = find_owner(entry.descriptor))
      owners.emplace(entry.id, sid_to_string(*owner));
  };
  const auto note = [&](const SecurityEntry& entry, bool used) {
    if (!faults.first) faults.first = {entry.id, entry.position};
    ++faults.entries;
    if (!used) ++faults.unused;
  };
  for_each_entry(block.main, block.position, [&](const SecurityEntry& entry) {
    const auto copy = copies.extract(entry.position);
    const bool copy_sound = copy && copy.mapped().sound;
    const bool same = copy && std::ranges::equal(copy.mapped().descriptor, entry.descriptor);
    const bool usable = entry.sound || copy_sound || same;
    if (usable) add(!entry.sound && copy_sound ? copy.mapped() : entry);
    if (!entry.sound || (copy && !copy_sound)) note(entry, usable);
  });
  for (const auto& [position, copy] : copies) {
    if (copy.sound) add(copy);
    if (!block.main.empty() || !copy.sound) note(copy, copy.sound);
  }
}

}  // namespace coldtrace::ntfs
