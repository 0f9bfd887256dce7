#include "ntfs/ewf_image.hpp"

#include <algorithm>
#include <array>

namespace coldtrace::ntfs {

bool is_ewf(core::ByteView head) {
  constexpr std::array<u8, 8> magic = {'E', 'V', 'F', 0x09, 0x0d, 0x0a, 0xff, 0x00};
  return head.size() >= magic.size() &&
         std::ranges::equal(head.first(magic.size()), std::as_bytes(std::span{magic}));
}

}  // namespace coldtrace::ntfs
