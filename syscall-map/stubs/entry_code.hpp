#pragma once

#include <functional>
#include <optional>
#include <string>

#include "coldtrace/pe/image.hpp"

namespace coldtrace::syscall_map {

// What stands at an export that is not a system call stub.
struct EntryCode {
  enum class Kind : u8 {
    data,          // not in an executable section
    code,          // an ordinary function
    wrapper,       // jumps to other code of the image
    import_thunk,  // jumps through the image's own import table
    hook,          // jumps out of the image or to where no code is
    breakpoint,    // int3 or int 3
  };

  Kind kind;
  std::optional<u64> target_address;  // absolute, at the preferred base; jumps only
  std::optional<pe::Rva> target;      // when it lies in the image
  std::optional<pe::Rva> slot;        // the pointer that an indirect jump loads
  std::string description;            // "jmp to 0x1234", "int3"
};

// What the slot at an RVA imports, "module!name"; nothing for what is not a slot of an import
// table.
using FindImport = std::function<std::optional<std::string>(pe::Rva)>;

// Looks at the first instructions at `rva` (x86 and x64; other machines: code or data). Moves
// before the jump are followed, as hooks that keep the first instructions of a stub have them.
EntryCode classify_entry(const pe::Image& image, pe::Rva rva, const FindImport& find_import);

}  // namespace coldtrace::syscall_map
