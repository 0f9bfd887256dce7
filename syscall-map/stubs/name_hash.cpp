#include "coldtrace/syscall-map/name_hash.hpp"

namespace coldtrace::syscall_map {

std::string_view hashed_name(std::string_view name) {
  const bool prefixed = name.starts_with("Nt") || name.starts_with("Zw");
  if (!prefixed || name.size() == 2 || name[2] < 'A' || name[2] > 'Z') return name;
  return name.substr(2);
}

u32 hash_name(std::string_view name) {
  u32 hash = 0;
  for (const char c : name) {
    // The kernel's characters are signed.
    const u32 mixed = 1025 * (hash + static_cast<u32>(static_cast<i32>(static_cast<i8>(c))));
    hash = mixed >> 6 ^ mixed;
  }
  return hash;
}

}  // namespace coldtrace::syscall_map
