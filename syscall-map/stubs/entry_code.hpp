#pragma once

#include <functional>
#include <optional>
#include <string>

#include "coldtrace/pe/image.hpp"

namespace coldtrace::syscall_map {

// What is found at an export that is not a system call stub.
struct EntryCode {
  enum class Kind : u8 {
    data,          // not in an executable section
    code,          // an ordinary function
    wrapper,       // jumps to other code of the image
    import_thunk,  // jumps through the image's own import table
    hook,          // jumps out of the image or to a place without code
    breakpoint,    // int3 or int 3
  };

  Kind kind;
  std::optional<u64> target_address;  // absolute, at the preferred base; jumps only
  std::optional<pe::Rva> target;      // if it lies in the image
  std::optional<pe::Rva> slot;        // the pointer loaded by an indirect jump
  std::string description;            // "jmp to 0x1234", "int3"
};

// What the slot at an RVA imports, "module!name"; nothing if it is not a slot of an import table.
using FindImport = std::function<std::optional<std::string>(pe::Rva)>;

// Examines the first instructions at `rva` (x86 and x64; other machines: code or data). Moves
// before the jump are followed, as in hooks that keep the first instructions of a stub.
EntryCode classify_entry(const pe::Image& image, pe::Rva rva, const FindImport& find_import);

}  // namespace coldtrace::syscall_map
