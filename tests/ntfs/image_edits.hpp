#pragma once

#include <string>

#include "fixtures/builders/ntfs_image.hpp"

namespace coldtrace::tests {

// The offset in a record of the first attribute of a type.
inline u64 attribute_at(core::ByteView record, u32 type) {
  u64 at = *core::load<u16>(record, 0x14);
  while (*core::load<u32>(record, at) != type) at += *core::load<u32>(record, at + 4);
  return at;
}

// The name with three digits behind it.
inline std::u16string numbered(std::u16string name, int number) {
  for (int power = 100; power > 0; power /= 10)
    name += static_cast<char16_t>(u'0' + number / power % 10);
  return name;
}

}  // namespace coldtrace::tests
