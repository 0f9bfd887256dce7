#pragma once

#include <memory>
#include <optional>

#include "coldtrace/syscall-map/dump_check.hpp"

namespace coldtrace::syscall_map {

// Tells what changes in a dump mean. For x86, x64, and ARM64, which is not disassembled. Both
// arguments have to outlive this.
class ChangeReader {
 public:
  ChangeReader(const pe::Image& file, const pe::ModuleDump& dump);
  ~ChangeReader();
  ChangeReader(const ChangeReader&) = delete;
  ChangeReader& operator=(const ChangeReader&) = delete;

  // The meaning of a change in the function that begins at `function`, if known: instructions are
  // counted from there.
  ChangeMeaning read(const pe::ByteChange& change, std::optional<pe::Rva> function) const;

 private:
  class Code;

  const pe::Image& file_;
  std::unique_ptr<Code> code_;
};

}  // namespace coldtrace::syscall_map
