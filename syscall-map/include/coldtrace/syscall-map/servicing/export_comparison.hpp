#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/pe/export_directory.hpp"

namespace coldtrace::syscall_map {

// An export in one of two images. The text is a copy.
struct ComparedExport {
  u32 ordinal = 0;
  pe::Rva address{};
  std::optional<std::string> forwarder;  // empty if it cannot be read
};

// An export that differs between two images. Exports with a name are paired by name, others by
// ordinal, as the loader finds them.
struct ExportChange {
  std::string name;  // empty: exported by ordinal only
  std::optional<ComparedExport> before, after;

  [[nodiscard]] bool renumbered() const;  // another ordinal
  [[nodiscard]] bool redirected() const;  // forwarded elsewhere, no longer, or newly
  [[nodiscard]] bool moved() const;       // another address, as for most in every build
};

// The exports of two versions of a module.
struct ExportComparison {
  u64 before = 0, after = 0;
  u64 added = 0, removed = 0, renumbered = 0, redirected = 0, moved = 0;
  std::vector<ExportChange> changes;  // by name, then ordinal
};

// If a name is exported more than once, the n-th is compared with the n-th.
[[nodiscard]] ExportComparison compare_exports(const pe::ExportDirectory& before,
                                               const pe::ExportDirectory& after);

}  // namespace coldtrace::syscall_map
