#pragma once

#include <optional>
#include <vector>

#include "coldtrace/syscall-map/dump_check.hpp"

namespace coldtrace::syscall_map {

// Where functions begin, from exports, a PDB, the unwind table and the hook points. All have to
// outlive this.
class ChangedFunctions {
 public:
  ChangedFunctions(const pe::ImageTables& file, const pe::CodeSymbols& symbols,
                   const std::vector<HookPoint>& points);

  // The function with the byte at `rva`: the last one that begins at or before it.
  std::optional<ChangedFunction> find(pe::Rva rva) const;

  // The first start after `rva`, or nothing.
  std::optional<pe::Rva> next_start(pe::Rva rva) const;

  // The first point that begins at `start`.
  std::optional<std::size_t> point_at(pe::Rva start) const;

 private:
  const pe::ImageTables& file_;
  const pe::CodeSymbols& symbols_;
  const std::vector<HookPoint>& points_;
  std::vector<u32> starts_;
};

}  // namespace coldtrace::syscall_map
