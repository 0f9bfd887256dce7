#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/pe/import_directory.hpp"

namespace coldtrace::syscall_map {

// A function that an image imports.
struct ComparedImport {
  std::string name;            // empty: by ordinal
  std::optional<u16> ordinal;  // of those without a name
  bool delayed = false;        // resolved at the first call

  friend auto operator<=>(const ComparedImport&, const ComparedImport&) = default;
};

// The imports of an image, each function once, by DLL. DLL names are in lower case, since the
// loader ignores case.
using ImageImports = std::map<std::string, std::vector<ComparedImport>>;

// A DLL from which two images import different functions.
struct DllChange {
  std::string dll;
  u64 before = 0, after = 0;                   // functions; 0: nothing is imported from it
  std::vector<ComparedImport> added, removed;  // ascending
};

// The imports of two versions of a module.
struct ImportComparison {
  u64 before = 0, after = 0;    // functions
  u64 added = 0, removed = 0;   // the same
  std::vector<DllChange> dlls;  // by name
};

// The imports of an image, at its start and delayed. Those without a readable name are left out;
// read_imports() reports them.
[[nodiscard]] ImageImports list_imports(const pe::Image& image, core::Findings& findings);

// An import that became delayed is removed and added.
[[nodiscard]] ImportComparison compare_imports(const ImageImports& before,
                                               const ImageImports& after);

}  // namespace coldtrace::syscall_map
