#pragma once

#include <memory>
#include <optional>

#include "coldtrace/syscall-map/dump_check.hpp"

namespace coldtrace::syscall_map {

// Tells what changes of a dump mean. x86, x64 and ARM64, of which nothing is disassembled. Both
// outlive this.
class ChangeReader {
 public:
  ChangeReader(const pe::Image& file, const pe::ModuleDump& dump);
  ~ChangeReader();
  ChangeReader(const ChangeReader&) = delete;
  ChangeReader& operator=(const ChangeReader&) = delete;

  // Of a change, in the function that begins at `function`, if that is known: from there
  // instructions are counted.
  ChangeMeaning read(const pe::ByteChange& change, std::optional<pe::Rva> function) const;

 private:
  class Code;

  const pe::Image& file_;
  std::unique_ptr<Code> code_;
};

}  // namespace coldtrace::syscall_map
