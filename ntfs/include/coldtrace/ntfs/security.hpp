#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::ntfs {

// The bytes of a security identifier. Source: [MS-DTYP] 2.4.2.2; at most 68 bytes.
[[nodiscard]] std::optional<core::ByteView> slice_sid(core::ByteView bytes, u64 offset);
template <core::TemporaryBytes T>
std::optional<core::ByteView> slice_sid(T&&, u64) = delete;

// "S-1-5-21-1-2-3-1001"
[[nodiscard]] std::string sid_to_string(core::ByteView sid);

// The owner in a self-relative security descriptor, as the bytes of its SID, which are empty if it
// has no owner; nothing if the descriptor is unusable. Source: [MS-DTYP] 2.4.6.
[[nodiscard]] std::optional<core::ByteView> find_owner(core::ByteView descriptor);
template <core::TemporaryBytes T>
std::optional<core::ByteView> find_owner(T&&) = delete;

// Owners by security id. Source: linux-ntfs documentation, "$Secure".
using SecurityOwners = std::unordered_map<u32, std::string>;

}  // namespace coldtrace::ntfs
