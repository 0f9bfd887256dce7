#pragma once

#include <optional>
#include <span>
#include <string>

#include "coldtrace/pdb/code_symbols.hpp"

namespace coldtrace::pe {

// A module of a memory, as the owner of its addresses.
struct OwningModule {
  std::string name;
  u64 base = 0;
  u64 size = 0;
  const CodeSymbols* symbols = nullptr;  // null where nothing is known of what lies in it
};

// What an address of a memory is called: "kernel32.dll!CreateFileW+0x5".
struct AddressOwner {
  std::string module;
  u64 offset = 0;      // from its base
  std::string symbol;  // empty where nothing names it
  u64 symbol_offset = 0;
};

// By the first of the modules that the address lies in; nothing where it lies in none.
[[nodiscard]] std::optional<AddressOwner> find_owner(std::span<const OwningModule> modules,
                                                     u64 address);

}  // namespace coldtrace::pe
