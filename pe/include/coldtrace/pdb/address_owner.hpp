#pragma once

#include <optional>
#include <span>
#include <string>

#include "coldtrace/pdb/code_symbols.hpp"

namespace coldtrace::pe {

// A module in a memory image, as the owner of its addresses.
struct OwningModule {
  std::string name;
  u64 base = 0;
  u64 size = 0;
  const CodeSymbols* symbols = nullptr;  // null if nothing is known about its contents
};

// The name of an address: "kernel32.dll!CreateFileW+0x5".
struct AddressOwner {
  std::string module;
  u64 offset = 0;      // from its base
  std::string symbol;  // empty if nothing names it
  u64 symbol_offset = 0;
};

// According to the first of the modules that contains the address; nothing if none does.
[[nodiscard]] std::optional<AddressOwner> find_owner(std::span<const OwningModule> modules,
                                                     u64 address);

}  // namespace coldtrace::pe
