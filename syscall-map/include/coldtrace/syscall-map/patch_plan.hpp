#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::syscall_map {

// An instruction at the start of a function that a patch would overwrite or copy.
struct PatchedInstruction {
  pe::Rva rva{};
  u8 length = 0;
  std::vector<u8> bytes;
  std::string text;
  // The target of an instruction that is relative to itself: a copy of it must be rewritten.
  std::optional<pe::Rva> relative_target;
  // A short branch has no room for the distance from a copy: it needs a longer form there.
  bool grows = false;
};

// A branch that reaches the function other than by a call of its entry.
struct IncomingBranch {
  pe::Rva from{};
  pe::Rva to{};
  std::string text;      // "jmp 0x492c"
  bool outside = false;  // another function's: no path from the entry leads to it
  bool proved = false;   // disassembly from before reaches it; else its bytes look like one
};

// Which bytes a patch writes.
enum class PatchMethod : u8 {
  entry_jump,  // jmp rel32 over the first instructions
  hot_patch,   // jmp rel32 in the padding before the entry, jmp -7 over its first two bytes
  inner_jump,  // jmp rel32 at an instruction after the entry that every path passes
  call_sites,  // the callers' call instructions, 5 bytes each
};

[[nodiscard]] std::string_view to_string(PatchMethod method);

// One way to make the function call a driver, and whether the function keeps working and the driver
// sees each switch once.
struct PatchOption {
  PatchMethod method = PatchMethod::entry_jump;
  std::vector<pe::Rva> sites;  // where bytes are written; one, but for call_sites
  u32 written = 0;             // bytes at each site
  u32 copied = 0;              // whole instructions that the driver must execute elsewhere, bytes
  bool safe = false;
  std::vector<std::string> reasons;  // why it is safe or not, a sentence each
};

// How a function could be hooked by overwriting code.
struct PatchPlan {
  std::vector<PatchedInstruction> instructions;  // from the entry, at least 5 bytes
  // Branches into these instructions, and from outside to anywhere in the function; by target, then
  // source.
  std::vector<IncomingBranch> incoming;
  u32 padding_before = 0;               // bytes of padding before the entry
  bool needs_writable_mapping = false;  // the page is write-protected: Windows 2000 and later
  std::vector<PatchOption> options;
  std::vector<std::string> notes;  // what applies to all options; sentences
};

}  // namespace coldtrace::syscall_map
