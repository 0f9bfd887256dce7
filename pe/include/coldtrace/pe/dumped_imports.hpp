#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/pe/export_directory.hpp"
#include "coldtrace/pe/import_directory.hpp"
#include "coldtrace/pe/module_dump.hpp"

namespace coldtrace::pe {

// The place of another module in memory.
struct KnownModule {
  std::string name;
  u64 base = 0;
  u64 size = 0;
  const ExportDirectory* exports = nullptr;  // null if unknown

  [[nodiscard]] bool contains(u64 address) const {
    return address >= base && address - base < size;
  }
};

// Why a slot does not lead to the right place.
enum class SlotFault : u8 {
  outside,  // outside every known module, while other slots of its DLL are in one
  alone,    // far from all other slots, while others of its DLL are together
  inside,   // into the importing module itself
  zero,     // zero, in a page that is present: neither the file nor the loader leaves that
  other,    // another place in the right DLL, whose exports are known
};
[[nodiscard]] std::string_view to_string(SlotFault fault);

// A slot of an import address table that does not lead to its import's target.
struct MisdirectedSlot {
  Rva slot{};
  std::string_view module;  // from which it is imported, as in the file
  std::string_view name;    // empty: by ordinal, or unreadable
  std::optional<u16> ordinal;
  bool delayed = false;
  u64 address = 0;
  SlotFault fault = SlotFault::outside;
};

// The contents of the import address tables of a dump.
struct DumpedImports {
  std::vector<MisdirectedSlot> misdirected;  // by slot
  std::vector<u64> addresses;                // slot values in other modules, ascending
  u64 slots = 0;
  u64 filled = 0;  // slots that contain an address
  u64 absent = 0;  // slots that are not in the dump
};

// The contents of the slots of all import address tables. A target outside every known module is
// not reported if it lies near the targets of other slots of the same DLL.
[[nodiscard]] DumpedImports read_dumped_imports(const ImageTables& file, const ModuleDump& dump,
                                                const std::vector<ImportedModule>& imports,
                                                const std::vector<KnownModule>& known);

}  // namespace coldtrace::pe
