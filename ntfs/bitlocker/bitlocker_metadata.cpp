#include "coldtrace/ntfs/bitlocker/bitlocker_metadata.hpp"

#include <fmt/format.h>

namespace coldtrace::ntfs {

std::string protector_name(u16 kind) {
  if ((kind & 0xFF00) == bitlocker_protector::clear_key) return "clear key";
  struct Flag {
    u16 bit;
    std::string_view name;
  };
  constexpr std::array flags = {
      Flag{0x0100, "TPM"},
      Flag{0x0400, "PIN"},
      Flag{bitlocker_protector::startup_key, "startup key"},
      Flag{bitlocker_protector::recovery_password, "recovery password"},
      Flag{0x1000, "smart card"},
      Flag{bitlocker_protector::password, "password"},
  };
  std::string name;
  u16 left = kind & 0xFF00;
  for (const auto& flag : flags) {
    if ((left & flag.bit) == 0) continue;
    left = static_cast<u16>(left & ~flag.bit);
    name += fmt::format("{}{}", name.empty() ? "" : " and ", flag.name);
  }
  if (left != 0) name += fmt::format("{}{:#x}", name.empty() ? "" : " and ", left);
  return name;
}

std::string_view encryption_name(u16 method) {
  switch (method) {
    case 0x8000:
      return "AES-CBC 128-bit with diffuser";
    case 0x8001:
      return "AES-CBC 256-bit with diffuser";
    case 0x8002:
      return "AES-CBC 128-bit";
    case 0x8003:
      return "AES-CBC 256-bit";
    case 0x8004:
      return "AES-XTS 128-bit";
    case 0x8005:
      return "AES-XTS 256-bit";
    default:
      return {};
  }
}

}  // namespace coldtrace::ntfs
