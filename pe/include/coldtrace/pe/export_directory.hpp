#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// One name, or one function that has no name. A function with two names is two of them.
struct Export {
  u32 ordinal;                 // with the ordinal base added
  std::string_view name;       // bytes of the file, any of them, or none at all
  Rva address;                 // where the function, data or forwarder text is
  bool is_forwarder;           // the image only names where the function is
  std::string_view forwarder;  // "MODULE.Name" or "MODULE.#7"; without data when it cannot be read

  // False where it is exported by ordinal only. A name may be empty.
  [[nodiscard]] bool has_name() const { return name.data() != nullptr; }
};

// IMAGE_EXPORT_DIRECTORY with its three tables. Source: Microsoft, "PE Format", .edata section.
struct ExportDirectory {
  std::string_view module_name;  // without data when it cannot be read; may be empty
  u32 time_date_stamp = 0;
  u32 ordinal_base = 0;
  std::vector<Export> exports;  // by ordinal, then as the name table has them
};

// Nothing when the image exports nothing. Counts beyond 65,536 (ordinals have 16 bits) or beyond
// the tables' own section are clamped with a finding; names that cannot be read are counted.
core::Result<std::optional<ExportDirectory>> read_export_directory(const Image& image,
                                                                   core::Findings& findings);

// How many exports read_export_directory() finds, and what it finds wrong with them; 0 when the
// image exports nothing. Makes no list (bench/syscall_map_bench, count_exports).
core::Result<u64> count_exports(const Image& image, core::Findings& findings);

// The module name alone; empty when there is none or it cannot be read.
[[nodiscard]] std::string_view read_module_name(const Image& image);

}  // namespace coldtrace::pe
