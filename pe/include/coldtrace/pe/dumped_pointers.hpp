#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/pe/dumped_imports.hpp"

namespace coldtrace::pe {

// A pointer of the load configuration through which code calls, or that checks where it calls, and
// that leads where the loader does not let it.
struct MisdirectedPointer {
  std::string_view name;  // of its field: GuardCFCheckFunctionPointer, ...
  Rva slot{};
  u64 address = 0;
  SlotFault fault = SlotFault::outside;
};

// Each holds what the file has there, or a function of ntdll, of a kernel module of the kernel:
// `inside` is in the module itself, which neither is, or no code of it; `other` in a module that is
// known and neither; `outside` of all where ntdll or the kernel is known; `alone` far from all that
// is imported where it is not; `zero` where the file has an address. `imported` are addresses that
// slots of imports hold, ascending.
[[nodiscard]] std::vector<MisdirectedPointer> read_dumped_pointers(
    const ImageTables& file, const ModuleDump& dump, const std::vector<KnownModule>& known,
    const std::vector<u64>& imported);

}  // namespace coldtrace::pe
