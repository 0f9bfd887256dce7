#pragma once

#include <optional>
#include <string_view>

#include "pe/image.hpp"

namespace coldtrace::syscall_map {

// Where a shape belongs.
enum class StubPlace : u8 {
  user,    // ntdll, win32u, user32, gdi32
  kernel,  // ZwX of ntoskrnl
};

// A system call stub, decoded.
struct Stub {
  std::string_view shape;  // an id of docs/syscall-map.md, "Stub shapes"
  StubPlace place;
  bool verified;                      // the shape was seen on real bytes
  u16 number;                         // service number, bit 12 set for win32k
  u32 raw_immediate;                  // what the code loads; may hold more than the number
  std::optional<u32> argument_bytes;  // what its return removes from the stack
  u32 length;                         // bytes of code
  // Code outside the stub that it calls or jumps to, the same for all stubs of an image: an RVA
  // for KiSystemService and KiServiceInternal, or for the thunk of wow64-transition.
  std::optional<pe::Rva> gate;
};

// Decodes the stub at `rva` by whole shapes anchored there. Nothing when no shape of the image's
// machine fits, `rva` is not executable, or an immediate holds what that shape cannot.
std::optional<Stub> decode_stub(const pe::Image& image, pe::Rva rva, bool wine);

}  // namespace coldtrace::syscall_map
