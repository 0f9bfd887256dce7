#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

// Where a shape occurs.
enum class StubPlace : u8 {
  user,    // ntdll, win32u, user32, gdi32
  kernel,  // ZwX of ntoskrnl
};

// A system call stub, decoded.
struct Stub {
  std::string_view shape;  // an id of docs/commands/syscall-map.md, "Stub shapes"
  StubPlace place;
  bool verified;                      // the shape was seen in real files
  u16 number;                         // the service number; bit 12 is set for win32k
  u32 raw_immediate;                  // what the code loads; may contain more than the number
  std::optional<u32> argument_bytes;  // what the return removes from the stack
  u32 length;                         // bytes of code
  // The code outside the stub that it calls or jumps to, the same for all stubs of an image: the
  // RVA of KiSystemService or KiServiceInternal, or of the wow64-transition thunk.
  std::optional<pe::Rva> gate;
};

// The service of a stub at `rva`, without names.
Service to_service(const pe::Image& image, pe::Rva rva, const Stub& stub, std::string evidence);

struct StubShape;

// Decodes the stubs of one image by complete shapes, anchored at an address.
class StubDecoder {
 public:
  static constexpr u32 longest_stub = 64;  // bytes

  // Some stubs of Wine and Microsoft are the same bytes: the maker of the image decides.
  StubDecoder(const pe::Image& image, bool wine);

  // The stub at `rva`. Nothing if no shape of the image's machine fits, `rva` is not executable, or
  // an immediate has a value that is impossible in that shape.
  std::optional<Stub> decode(pe::Rva rva);

 private:
  const pe::Image& image_;
  pe::Image::Sections sections_;
  pe::Image::Window code_;
  std::vector<const StubShape*> shapes_;  // those of the image's machine and maker
};

}  // namespace coldtrace::syscall_map
