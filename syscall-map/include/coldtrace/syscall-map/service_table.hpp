#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pe/rva.hpp"
#include "coldtrace/syscall-map/confidence.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

// How a table in a file refers to its functions. The loader, or the kernel when it starts, converts
// the last two into other forms.
enum class TableForm : u8 {
  va32,   // 32-bit addresses, relocated (x86)
  va64,   // 64-bit addresses, relocated (x64 up to 10586)
  rva32,  // 32-bit RVAs, not relocated (x64 since 14393)
};

[[nodiscard]] std::string_view to_string(TableForm form);

// An entry of a service table.
struct ServiceTableEntry {
  pe::Rva target{};
  // The byte of the argument table: on x86 for all arguments, on x64 for those on the stack.
  std::optional<u8> argument_bytes;
  // If the code at the target is a jump through an import, as in win32k.sys since 10.0.10586.
  std::string import_module;
  std::string import_name;
};

// A table of system services in an image: KiServiceTable, W32pServiceTable, ...
struct LocatedServiceTable {
  std::string name;  // "KiServiceTable", "W32pServiceTable", "W32pServiceTableFilter"
  ServiceTable table = ServiceTable::nt;
  pe::Rva rva{};
  std::optional<u64> file_offset;
  u64 address = 0;  // at the preferred base
  TableForm form = TableForm::va32;
  std::vector<ServiceTableEntry> entries;  // by index; the limit gives their number
  std::optional<pe::Rva> limit;            // where the number of entries is stored
  std::optional<pe::Rva> arguments;        // KiArgumentTable, W32pArgumentTable
  std::optional<pe::Rva> descriptor;       // KeServiceDescriptorTable
  std::vector<std::string> evidence;       // sentences
  Confidence confidence = Confidence::low;
  bool verified = false;  // whether this form was seen in real files
};

}  // namespace coldtrace::syscall_map
