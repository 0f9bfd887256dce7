#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// One slot of an imported DLL.
struct ImportedFunction {
  std::string_view name;  // without data if imported by ordinal, or unreadable
  u16 hint;               // where to look first in the exporter's name table
  u16 ordinal;
  bool by_ordinal;
  Rva slot;  // the pointer in the import address table that calls go through

  // A name may be empty.
  [[nodiscard]] bool has_name() const { return name.data() != nullptr; }
};

// The imports from one module, at start or at the first call.
struct ImportedModule {
  std::string_view name;  // without data if it cannot be read; may be empty
  u32 time_date_stamp;    // 0 unless bound; 0xffffffff: see the bound imports
  Rva lookup_table;       // names and ordinals; 0 if only the address table has them
  Rva address_table;
  bool delayed;
  std::vector<ImportedFunction> functions;
};

// A module whose addresses were written into the file, with its time stamp at that time.
struct BoundImport {
  std::string_view module;  // as ImportedModule::name
  u32 time_date_stamp;
  bool forwarder;  // reached through a forwarder of the preceding module that is not one
};

// Every list ends at its terminator, at the end of its section, or at 65,536 modules or 1,000,000
// functions together, or one for each 8 bytes of the file. The last three are findings, as are
// names that cannot be read, whose slots are kept. Source: Microsoft, "PE Format", .idata section
// and delay-load import tables.
[[nodiscard]] std::vector<ImportedModule> read_imports(const Image& image,
                                                       core::Findings& findings);

// Delay-load descriptors contain RVAs, or addresses in their first form (Attributes 0).
[[nodiscard]] std::vector<ImportedModule> read_delay_imports(const Image& image,
                                                             core::Findings& findings);

// The number of functions that these two give, and their findings. Builds no lists
// (bench/compare-pe, `pe info` over folders).
[[nodiscard]] u64 count_imports(const Image& image, core::Findings& findings);
[[nodiscard]] u64 count_delay_imports(const Image& image, core::Findings& findings);

// IMAGE_BOUND_IMPORT_DESCRIPTOR and its IMAGE_BOUND_FORWARDER_REF. Source: Windows SDK, winnt.h.
[[nodiscard]] std::vector<BoundImport> read_bound_imports(const Image& image,
                                                          core::Findings& findings);

}  // namespace coldtrace::pe
