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

// The owner in a self-relative security descriptor, as the bytes of its SID; nothing when it has
// none. Source: [MS-DTYP] 2.4.6.
[[nodiscard]] std::optional<core::ByteView> find_owner(core::ByteView descriptor);

// Owners by security id. Source: linux-ntfs documentation, "$Secure".
using SecurityOwners = std::unordered_map<u32, std::string>;

// Adds the owners of the descriptors in a piece of the stream $Secure:$SDS that starts at byte
// `position` of it. An entry states its own position, by which entries behind damage are found.
// Each block of 256 KiB is followed by its copy, which is not read.
void add_security_owners(core::ByteView piece, u64 position, SecurityOwners& owners);

constexpr u64 security_block_size = u64{256} * 1024;

}  // namespace coldtrace::ntfs
