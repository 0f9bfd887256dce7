#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/pe/tls_directory.hpp"

namespace coldtrace::pe {

// A DLL that a module imports from.
struct ImportedDll {
  std::string_view name;  // as in the import; without data if it cannot be read
  bool delayed;
  // The address table was filled in when the file was bound: the slots hold addresses.
  bool bound;
  std::optional<u32> bound_to;  // TimeDateStamp of the DLL at that time
};

// The pointer through which all calls of one imported function go.
struct ImportSlot {
  Rva rva;
  std::optional<u64> file_offset;
  u32 dll;                // index into ModuleTables::DLLs
  std::string_view name;  // without data if imported by ordinal, or unreadable
  u16 ordinal;
  u16 hint;
  bool by_ordinal;
  std::optional<u32> section;        // index into ModuleTables::sections; nothing: in the headers
  std::optional<u64> bound_address;  // the contents of a bound slot

  // A name may be empty.
  [[nodiscard]] bool has_name() const { return name.data() != nullptr; }
};

// An export of a module.
struct ExportedFunction {
  u32 ordinal;            // including the ordinal base
  std::string_view name;  // without data: by ordinal only
  Rva address;
  bool is_forwarder;
  std::string_view forwarder;

  // A name may be empty.
  [[nodiscard]] bool has_name() const { return name.data() != nullptr; }
};

// The data of a module that is needed to follow its calls of other modules, without the image: the
// names are copies. Can be moved, not copied.
struct ModuleTables {
  ModuleTables() = default;
  ModuleTables(ModuleTables&&) = default;
  ModuleTables& operator=(ModuleTables&&) = default;

  std::string name;  // of the file: what the loader looks for
  Machine machine = Machine::unknown;
  u64 file_size = 0;
  unsigned pointer_size = 8;
  u64 image_base = 0;
  u32 time_date_stamp = 0;
  bool is_dll = false;    // the entry point is called when it is loaded
  Rva entry_point{0};     // 0: none
  u64 tls_callbacks = 0;  // run before the entry point
  // The loader makes the delay-load slots read-only once it has run.
  bool protects_delayed_slots = false;

  std::vector<SectionHeader> sections;
  std::vector<ImportedDll> dlls;          // delay-loaded ones last
  std::vector<ImportSlot> slots;          // by address, then as the tables have them
  std::vector<ExportedFunction> exports;  // by ordinal, then name
  std::vector<u32> exports_by_name;       // indexes; those without a name are left out

  // Whether the section that the slot lies in is writable; the headers are not.
  [[nodiscard]] bool is_writable(const ImportSlot& slot) const;
  // Whether the protection of the slot's page must be changed before writing a new value.
  [[nodiscard]] bool must_unprotect(const ImportSlot& slot) const;
  // Whether the address in a bound slot is that of this exporter; nothing if the slot does not say
  // whose it is.
  [[nodiscard]] std::optional<bool> is_bound_to(const ImportSlot& slot,
                                                const ModuleTables& exporter) const;
  // Whether code of the module runs while it is loaded, before its slots can be changed from
  // outside.
  [[nodiscard]] bool runs_while_loaded() const;
  // Index into `exports`; of several names of an ordinal, the first.
  [[nodiscard]] std::optional<u32> find_export(std::string_view function) const;
  [[nodiscard]] std::optional<u32> find_export(u32 ordinal) const;
  // The names of an exported function, in order; at most 64.
  [[nodiscard]] std::vector<std::string_view> names_of(u32 ordinal) const;

  std::vector<char> text;  // viewed by the names above
};

// `name` is that of the file. What cannot be read is a finding and left out.
[[nodiscard]] ModuleTables read_module_tables(const Image& image, std::string_view name,
                                              core::Findings& findings);

}  // namespace coldtrace::pe
