#pragma once

#include <array>
#include <compare>
#include <string>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// What identifies a PE image in a trace; zeros are "not known".
struct TracedImage {
  static constexpr std::size_t size_on_disk = 128;  // in the header of a .ctrace file
  u16 machine = 0;
  u32 time_date_stamp = 0;
  u32 size_of_image = 0;
  u32 checksum = 0;
  std::array<u16, 4> file_version{};  // major first
  u32 pdb_age = 0;
  core::Guid pdb_guid;
  std::string name;
  std::string pdb_name;
  bool portable_pdb = false;  // one of its PDBs is a portable one of .NET
  bool has_il_pdb = false;    // beside that of its native code it has one of its IL

  // Precompiled images have both: the portable one is then that of their IL.
  [[nodiscard]] bool pdb_is_portable() const { return portable_pdb && !has_il_pdb; }
  [[nodiscard]] bool known() const { return time_date_stamp != 0 || size_of_image != 0; }

  auto operator<=>(const TracedImage&) const = default;
};

}  // namespace coldtrace::tracefile
