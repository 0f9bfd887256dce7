#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// One name, or one function without a name. A function with two names is two exports.
struct Export {
  u32 ordinal;                 // including the ordinal base
  std::string_view name;       // arbitrary bytes of the file, or without data
  Rva address;                 // place of the function, data or forwarder text
  bool is_forwarder;           // the image only names another place
  std::string_view forwarder;  // "MODULE.Name" or "MODULE.#7"; without data if it cannot be read

  // False if exported by ordinal only. A name may be empty.
  [[nodiscard]] bool has_name() const { return name.data() != nullptr; }
};

// IMAGE_EXPORT_DIRECTORY with its three tables. Source: Microsoft, "PE Format", .edata section.
struct ExportDirectory {
  std::string_view module_name;  // without data if it cannot be read; may be empty
  u32 time_date_stamp = 0;
  u32 ordinal_base = 0;
  std::vector<Export> exports;  // by ordinal, then in the order of the name table
};

// Nothing if the image exports nothing. Counts beyond 65,536 (ordinals have 16 bits) or beyond the
// tables' own section are reduced with a finding; names that cannot be read are counted.
core::Result<std::optional<ExportDirectory>> read_export_directory(const Image& image,
                                                                   core::Findings& findings);

// The number of exports that read_export_directory() finds, and its findings; 0 if the image
// exports nothing. Builds no list (bench/syscall_map_bench, count_exports).
core::Result<u64> count_exports(const Image& image, core::Findings& findings);

// Only the module name; empty if there is none or it cannot be read.
[[nodiscard]] std::string_view read_module_name(const Image& image);

}  // namespace coldtrace::pe
