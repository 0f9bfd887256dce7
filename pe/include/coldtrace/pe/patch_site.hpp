#pragma once

#include <string_view>

#include "coldtrace/pe/rva.hpp"

namespace coldtrace::pe {

// Why Windows itself writes to a place of a loaded image.
enum class PatchRule : u8 {
  header_base,        // ImageBase
  import_address,     // import address table
  delayed_import,     // delay-load address table
  loader_pointer,     // LoadConfig::loader_pointers
  security_cookie,    // LoadConfig::security_cookie
  tls_index,          // TlsDirectory::index_address
  lock_prefix,        // LOCK becomes NOP on a single processor
  import_call,        // of drivers: a call through a slot becomes a direct one
  indirect_branch,    // of drivers: retpoline
  switch_branch,      // of drivers: retpoline of a jump table
  dynamic_value,      // of kernels: addresses chosen when the system starts
  unread_relocation,  // of a type that is not applied
  service_row,        // of a table of system services; x64 kernels pack them
};
inline constexpr std::size_t patch_rule_count = 13;

// "import_address"
[[nodiscard]] std::string_view to_string(PatchRule rule);
// What is written there, and its source; a sentence.
[[nodiscard]] std::string_view explain(PatchRule rule);
// Whether code is written, which must be judged by what it does now.
[[nodiscard]] constexpr bool writes_code(PatchRule rule) {
  return rule == PatchRule::import_call || rule == PatchRule::indirect_branch ||
         rule == PatchRule::switch_branch;
}

// Bytes that are expected to differ in memory, and the rule for it.
struct PatchSite {
  Rva rva{};
  u32 size = 0;
  PatchRule rule = PatchRule::header_base;
};

}  // namespace coldtrace::pe
