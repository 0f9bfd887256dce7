#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/pe/rva.hpp"

namespace coldtrace::pe {

// Source of all structures here: Microsoft, "PE Format", under the structure's own name.

// IMAGE_DOS_HEADER, the relevant fields; 64 bytes.
struct DosHeader {
  u32 new_header_offset;  // e_lfanew
};

// IMAGE_FILE_MACHINE_*. Source: Microsoft, "PE Format", "Machine Types".
enum class Machine : u16 {
  unknown = 0,
  i386 = 0x014c,
  arm = 0x01c0,
  armnt = 0x01c4,  // ARM32, Thumb-2
  ia64 = 0x0200,
  amd64 = 0x8664,
  arm64 = 0xaa64,
  arm64ec = 0xa641,
  arm64x = 0xa64e,
};

// "x86", "x64", "arm64" and so on; "0x1234" for unknown numbers.
[[nodiscard]] std::string to_string(Machine machine);

// IMAGE_FILE_HEADER; 20 bytes.
struct FileHeader {
  Machine machine;
  u16 section_count;
  u32 time_date_stamp;  // since Windows 10 a hash of the build, not a time
  u32 symbol_table_offset;
  u32 symbol_count;
  u16 optional_header_size;
  u16 characteristics;
};

// IMAGE_DATA_DIRECTORY.
struct DataDirectory {
  Rva address;  // a file offset for the certificate table
  u32 size;
};

// Index into the data directories of the optional header.
enum class Directory : u8 {
  exports,
  imports,
  resources,
  exceptions,
  certificates,
  base_relocations,
  debug,
  architecture,
  global_pointer,
  tls,
  load_config,
  bound_imports,
  import_addresses,
  delay_imports,
  clr_header,
  reserved,
};
inline constexpr std::size_t directory_count = 16;

// Bits of OptionalHeader::dll_characteristics.
inline constexpr u16 dll_dynamic_base = 0x0040;
inline constexpr u16 dll_force_integrity = 0x0080;  // linked with /INTEGRITYCHECK

// IMAGE_OPTIONAL_HEADER32 or IMAGE_OPTIONAL_HEADER64.
struct OptionalHeader {
  static constexpr std::size_t largest_on_disk = 240;  // PE32+ with 16 directories
  bool pe32_plus;                                      // Magic 0x20b
  u8 major_linker_version;
  u8 minor_linker_version;
  Rva entry_point;
  u64 image_base;
  u32 section_alignment;
  u32 file_alignment;
  u16 major_operating_system_version;
  u16 minor_operating_system_version;
  u16 major_image_version;
  u16 minor_image_version;
  u16 major_subsystem_version;
  u16 minor_subsystem_version;
  u32 size_of_image;
  u32 size_of_headers;
  u32 checksum;
  u64 checksum_offset;  // place of the field in the file
  u16 subsystem;
  u16 dll_characteristics;
  std::array<DataDirectory, directory_count> directories;  // absent ones are zero

  [[nodiscard]] unsigned pointer_size() const { return pe32_plus ? 8 : 4; }
};

// Bits of SectionHeader::characteristics.
inline constexpr u32 section_code = 0x0000'0020;
inline constexpr u32 section_discardable = 0x0200'0000;
inline constexpr u32 section_executable = 0x2000'0000;
inline constexpr u32 section_readable = 0x4000'0000;
inline constexpr u32 section_writable = 0x8000'0000;

// IMAGE_SECTION_HEADER; 40 bytes.
struct SectionHeader {
  static constexpr std::size_t size_on_disk = 40;
  std::array<char, 8> raw_name;  // not NUL-terminated if all 8 bytes are used
  u32 virtual_size;
  Rva address;
  u32 raw_size;
  u32 raw_offset;
  u32 characteristics;

  // The name up to the first NUL. Names such as "/4" refer to the COFF string table.
  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] bool executable() const {
    return (characteristics & (section_executable | section_code)) != 0;
  }
};

// The header at the start of `file`.
core::Result<DosHeader> read_dos_header(core::ByteView file);

// The signature "PE\0\0" at `offset`, then the file header.
core::Result<FileHeader> read_file_header(core::ByteView file, u64 offset);

// The optional header at `offset`. `declared_size` is SizeOfOptionalHeader, which says only where
// the section table begins: the loader reads the whole header whatever it says (observed on Windows
// XP to 8 with the images of Corkami, in which it is 0), so that a smaller one is a finding, as are
// fewer directories than declared, or more than 16.
core::Result<OptionalHeader> read_optional_header(core::ByteView file, u64 offset,
                                                  u32 declared_size, core::Findings& findings);

// `offset` is that of the header in `file`.
core::Result<SectionHeader> read_section_header(core::ByteView file, u64 offset);

}  // namespace coldtrace::pe
