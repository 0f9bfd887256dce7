#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/rva.hpp"

namespace coldtrace::syscall_map {

// Which service table a number indexes: bit 12 of the number.
enum class ServiceTable : u8 { nt, win32k };
[[nodiscard]] std::string_view to_string(ServiceTable table);

constexpr u16 win32k_bit = 0x1000;
// The table to which a system call number belongs, by its bit 12.
[[nodiscard]] constexpr ServiceTable table_of(u16 number) {
  return (number & win32k_bit) != 0 ? ServiceTable::win32k : ServiceTable::nt;
}

// How a system call number is known.
enum class NumberSource : u8 {
  read,      // from the stub's own bytes
  inferred,  // from the order of the neighbouring stubs
};
[[nodiscard]] std::string_view to_string(NumberSource source);

// One system service as it appears in one image.
struct Service {
  std::string name;  // NtX if exported, otherwise ZwX, otherwise the first name; empty for a stub
                     // of a run that no export names
  std::vector<std::string> aliases;  // other exports of the same address, sorted
  u16 number = 0;
  ServiceTable table = ServiceTable::nt;
  pe::Rva rva{};
  std::optional<u64> file_offset;
  std::optional<u32> argument_bytes;  // where the bytes prove it
  std::string_view shape;             // empty when no stub was read
  bool kernel_stub = false;           // a ZwX of ntoskrnl, which calls the service
  std::optional<u32> raw_immediate;
  NumberSource source = NumberSource::read;
  bool hooked = false;
  std::string hook;  // what replaces the stub, and where it leads
  bool verified = false;
  std::vector<std::string> evidence;  // how the number was obtained, a sentence each
};

// A name that looks like a service, or is listed among them, but is not one.
struct RejectedName {
  std::string name;
  std::string reason;
};

// "NtX" or "ZwX" with a capital X.
[[nodiscard]] bool is_service_name(std::string_view name);

// The name with Nt for Zw, in which user and kernel side agree.
[[nodiscard]] std::string to_nt_name(std::string_view name);

}  // namespace coldtrace::syscall_map
