#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/pe/dumped_imports.hpp"

namespace coldtrace::pe {

// A pointer of the load configuration through which code calls or checks calls, and that leads to a
// place that the loader does not allow.
struct MisdirectedPointer {
  std::string_view name;  // the name of its field: GuardCFCheckFunctionPointer, ...
  Rva slot{};
  u64 address = 0;
  SlotFault fault = SlotFault::outside;
};

// Each should contain the file's value or a function of ntdll (for a kernel module: of the kernel).
// `inside`: in the module itself, which is neither of these, or in no code of it; `other`: in a
// known module that is neither; `outside`: outside all modules, if ntdll or the kernel is known;
// `alone`: far from all that is imported, if it is not known; `zero`: zero where the file has an
// address. `imported` are the addresses in import slots, ascending.
[[nodiscard]] std::vector<MisdirectedPointer> read_dumped_pointers(
    const ImageTables& file, const ModuleDump& dump, const std::vector<KnownModule>& known,
    const std::vector<u64>& imported);

}  // namespace coldtrace::pe
