#include "coldtrace/syscall-map/stubs/name_hash.hpp"

#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

std::string_view hashed_name(std::string_view name) {
  return is_service_name(name) ? name.substr(2) : name;
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
