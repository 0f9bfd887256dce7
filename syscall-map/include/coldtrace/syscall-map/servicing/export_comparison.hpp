#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/pe/export_directory.hpp"

namespace coldtrace::syscall_map {

// What an export is in one of two images. The text is a copy.
struct ComparedExport {
  u32 ordinal = 0;
  pe::Rva address{};
  std::optional<std::string> forwarder;  // of a forwarder; empty where it cannot be read
};

// An export that two images do not share. One that has a name is the same by its name, others by
// their ordinal: so does the loader find them.
struct ExportChange {
  std::string name;  // empty: exported by ordinal alone
  std::optional<ComparedExport> before, after;

  [[nodiscard]] bool renumbered() const;  // another ordinal
  [[nodiscard]] bool redirected() const;  // forwarded elsewhere, or no longer, or only now
  [[nodiscard]] bool moved() const;       // another address, which every build gives to most
};

// The exports of two versions of a module.
struct ExportComparison {
  u64 before = 0, after = 0;
  u64 added = 0, removed = 0, renumbered = 0, redirected = 0, moved = 0;
  std::vector<ExportChange> changes;  // by name, then ordinal
};

// Of a name that is exported more than once the n-th is compared with the n-th.
[[nodiscard]] ExportComparison compare_exports(const pe::ExportDirectory& before,
                                               const pe::ExportDirectory& after);

}  // namespace coldtrace::syscall_map
