#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

// Where a shape belongs.
enum class StubPlace : u8 {
  user,    // ntdll, win32u, user32, gdi32
  kernel,  // ZwX of ntoskrnl
};

// A system call stub, decoded.
struct Stub {
  std::string_view shape;  // an id of docs/commands/syscall-map.md, "Stub shapes"
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

// The service of a stub at `rva`, without names.
Service to_service(const pe::Image& image, pe::Rva rva, const Stub& stub, std::string evidence);

struct StubShape;

// Decodes the stubs of one image by whole shapes, anchored at an address.
class StubDecoder {
 public:
  static constexpr u32 longest_stub = 64;  // bytes

  // Wine and Microsoft share bytes; who made the image decides.
  StubDecoder(const pe::Image& image, bool wine);

  // The stub at `rva`. Nothing when no shape of the image's machine fits, `rva` is not executable,
  // or an immediate holds what that shape cannot.
  std::optional<Stub> decode(pe::Rva rva);

 private:
  const pe::Image& image_;
  pe::Image::Sections sections_;
  pe::Image::Window code_;
  std::vector<const StubShape*> shapes_;  // those of the image's machine and maker
};

}  // namespace coldtrace::syscall_map
