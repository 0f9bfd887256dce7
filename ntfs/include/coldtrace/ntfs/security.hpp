#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::ntfs {

// The bytes of a security identifier. Source: [MS-DTYP] 2.4.2.2; at most 68 bytes.
[[nodiscard]] std::optional<core::ByteView> slice_sid(core::ByteView bytes, u64 offset);

// "S-1-5-21-1-2-3-1001"
[[nodiscard]] std::string sid_to_string(core::ByteView sid);

// The owner in a self-relative security descriptor, as the bytes of its SID, which are none where
// it has no owner; nothing where it cannot be used. Source: [MS-DTYP] 2.4.6.
[[nodiscard]] std::optional<core::ByteView> find_owner(core::ByteView descriptor);

// Owners by security id. Source: linux-ntfs documentation, "$Secure".
using SecurityOwners = std::unordered_map<u32, std::string>;

// Entries of $SDS whose descriptor is not the one that was stored, by the hash beside it.
struct SecurityFaults {
  struct Place {
    u32 id;
    u64 position;
  };
  std::optional<Place> first;
  u64 entries = 0;
  u64 unused = 0;  // of them, where neither copy could be used
};

// A block of the stream $Secure:$SDS that starts at byte `position` of it, and its copy.
struct SecurityBlock {
  core::ByteView main, copy;  // empty where it cannot be read
  u64 position = 0;
};

// Adds the owners of the descriptors in a block. An entry, also in the copy, states the position
// of the first one, by which entries behind damage are found. Of the two the one is used that its
// hash fits, and where none does, a descriptor that both have.
void add_security_owners(const SecurityBlock& block, SecurityOwners& owners,
                         SecurityFaults& faults);

constexpr u64 security_block_size = u64{256} * 1024;

}  // namespace coldtrace::ntfs
