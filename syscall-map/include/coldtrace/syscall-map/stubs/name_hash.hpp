#pragma once

#include <string_view>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/integers.hpp"

namespace coldtrace::syscall_map {

// The name that KiServicesTab (Windows 10 1903 and later) hashes: that of the service without its
// "Nt" or "Zw". A name that continues in lower case ("Ntfs...") has no such prefix.
[[nodiscard]] std::string_view hashed_name(std::string_view name);
template <core::TemporaryText T>
std::string_view hashed_name(T&&) = delete;

// The hash of KiServicesTab's entries and of KeSetSystemServiceCallback, of exactly this name.
// Source: "Dynamic Tracing in Windows 10 19H1", KeSetSystemServiceCallback.
[[nodiscard]] u32 hash_name(std::string_view name);

}  // namespace coldtrace::syscall_map
