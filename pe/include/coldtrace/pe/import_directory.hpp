#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// One slot of an imported DLL.
struct ImportedFunction {
  std::string_view name;  // none when imported by ordinal, or when it cannot be read
  u16 hint;               // where to look first in the exporter's name table
  u16 ordinal;
  bool by_ordinal;
  Rva slot;  // the pointer in the import address table that calls go through

  // A name may be empty.
  [[nodiscard]] bool has_name() const { return name.data() != nullptr; }
};

// What is imported from one module, at start or at the first call.
struct ImportedModule {
  std::string_view name;  // without data when it cannot be read; may be empty
  u32 time_date_stamp;    // 0 unless bound; 0xffffffff: see the bound imports
  Rva lookup_table;       // names and ordinals; 0 when only the address table has them
  Rva address_table;
  bool delayed;
  std::vector<ImportedFunction> functions;
};

// A module whose addresses were written into the file when it had that time stamp.
struct BoundImport {
  std::string_view module;  // as ImportedModule::name
  u32 time_date_stamp;
  bool forwarder;  // reached through a forwarder of the last module that is none
};

// Every list ends at its terminator, at the end of its section, or at 65,536 modules or 1,000,000
// functions together, or one for each 8 bytes of the file; the last three are findings, as are
// names that cannot be read: their slots are kept. Source: Microsoft, "PE Format", .idata section
// and delay-load import tables.
[[nodiscard]] std::vector<ImportedModule> read_imports(const Image& image,
                                                       core::Findings& findings);

// Delay-load descriptors hold RVAs, or in their first form (Attributes 0) addresses.
[[nodiscard]] std::vector<ImportedModule> read_delay_imports(const Image& image,
                                                             core::Findings& findings);

// How many functions these two give, and what they find wrong with them. Makes no lists
// (bench/compare-pe, `pe info` over folders).
[[nodiscard]] u64 count_imports(const Image& image, core::Findings& findings);
[[nodiscard]] u64 count_delay_imports(const Image& image, core::Findings& findings);

// IMAGE_BOUND_IMPORT_DESCRIPTOR and its IMAGE_BOUND_FORWARDER_REF. Source: Windows SDK, winnt.h.
[[nodiscard]] std::vector<BoundImport> read_bound_imports(const Image& image,
                                                          core::Findings& findings);

}  // namespace coldtrace::pe
