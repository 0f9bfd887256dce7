#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/pe/export_directory.hpp"
#include "coldtrace/pe/import_directory.hpp"
#include "coldtrace/pe/module_dump.hpp"

namespace coldtrace::pe {

// Where another module was in memory.
struct KnownModule {
  std::string name;
  u64 base = 0;
  u64 size = 0;
  const ExportDirectory* exports = nullptr;  // nothing where they are not known

  [[nodiscard]] bool contains(u64 address) const {
    return address >= base && address - base < size;
  }
};

// Why a slot does not lead where it should.
enum class SlotFault : u8 {
  outside,  // of every known module, while other slots of its DLL are in one
  alone,    // far from all other slots, while others of its DLL are together
  inside,   // into the importing module itself
  zero,     // to nothing, in a page that is there: neither the file nor the loader leaves that
  other,    // into the DLL that it should, whose exports are known, to another place in it
};
[[nodiscard]] std::string_view to_string(SlotFault fault);

// A slot of an import address table that does not lead where the import does.
struct MisdirectedSlot {
  Rva slot{};
  std::string_view module;  // that is imported from, as the file has it
  std::string_view name;    // empty: by ordinal, or not readable
  std::optional<u16> ordinal;
  bool delayed = false;
  u64 address = 0;
  SlotFault fault = SlotFault::outside;
};

// What the import address tables of a dump hold.
struct DumpedImports {
  std::vector<MisdirectedSlot> misdirected;  // by slot
  std::vector<u64> addresses;                // in other modules that slots hold, ascending
  u64 slots = 0;
  u64 filled = 0;  // hold an address
  u64 absent = 0;  // the dump does not have them
};

// What the slots of all import address tables hold. Of what is not known to be a module nothing
// is said where it lies beside what others of the same DLL lead to.
[[nodiscard]] DumpedImports read_dumped_imports(const ImageTables& file, const ModuleDump& dump,
                                                const std::vector<ImportedModule>& imports,
                                                const std::vector<KnownModule>& known);

}  // namespace coldtrace::pe
