#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/integers.hpp"
#include "coldtrace/pe/image_tables.hpp"

namespace coldtrace::syscall_map {

// Why a byte of a function says nothing about the function in another build.
enum class Wildcard : u8 {
  none,         // it is meaningful
  relocation,   // the loader adjusts it
  branch,       // part of a displacement that leaves the function
  address,      // part of a displacement from rip, or of an address or RVA without a relocation
  differences,  // it differs between the files
};

[[nodiscard]] std::string_view to_string(Wildcard wildcard);

// A byte of a function, and whether it may differ in another build.
struct FunctionByte {
  u8 value;
  Wildcard wildcard = Wildcard::none;
};

// The code of one function, from its start on.
struct FunctionBytes {
  std::vector<FunctionByte> bytes;  // whole instructions
  std::vector<u8> instructions;     // their sizes
  bool whole = false;               // the function ends after them
};

// Reads functions of one image.
class FunctionReader {
 public:
  // The maximum number of bytes that is read.
  static constexpr u32 most_bytes = 256;

  explicit FunctionReader(core::Borrowed<pe::ImageTables> tables)
      : tables_{tables.get()}, image_{tables_.image()} {}

  // The function that starts at `start`. On x64 it extends to the end that .pdata gives; otherwise,
  // and for functions without an entry there, to the first return or jump that no earlier branch
  // leads beyond. Empty if no instruction is there. For x86 and x64.
  [[nodiscard]] FunctionBytes read(pe::Rva start) const;

 private:
  struct End {
    pe::Rva rva{};
    bool known = true;  // false: there is no instruction
  };

  End find_end(pe::Rva start) const;

  const pe::ImageTables& tables_;
  const pe::Image& image_;
};

}  // namespace coldtrace::syscall_map
