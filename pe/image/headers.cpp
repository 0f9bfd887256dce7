#include "coldtrace/pe/headers.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {

using core::Fault;

std::string to_string(Machine machine) {
  switch (machine) {
    case Machine::unknown:
      return "unknown";
    case Machine::i386:
      return "x86";
    case Machine::arm:
      return "arm";
    case Machine::armnt:
      return "arm32";
    case Machine::ia64:
      return "ia64";
    case Machine::amd64:
      return "x64";
    case Machine::arm64:
      return "arm64";
    case Machine::arm64ec:
      return "arm64ec";
    case Machine::arm64x:
      return "arm64x";
  }
  return fmt::format("{:#06x}", static_cast<u16>(machine));
}

std::string_view SectionHeader::name() const {
  const auto end = std::find(raw_name.begin(), raw_name.end(), '\0');
  return {raw_name.data(), static_cast<std::size_t>(end - raw_name.begin())};
}

core::Result<DosHeader> read_dos_header(core::ByteView file) {
  core::Reader in{file, "IMAGE_DOS_HEADER", 0};
  in.expect<u16>(0x5a4d, "e_magic");  // "MZ"
  in.skip(58, "e_cblp to e_res2");
  const DosHeader header{.new_header_offset = in.read_u32("e_lfanew")};
  return in.finish(header);
}

core::Result<FileHeader> read_file_header(core::ByteView file, u64 offset) {
  const auto bytes = core::slice(file, offset, file.size() - std::min<u64>(offset, file.size()));
  if (!bytes)
    return core::fail(
        {Fault::out_of_bounds, 60, "IMAGE_DOS_HEADER", "e_lfanew", file.size(), offset});
  core::Reader in{*bytes, "IMAGE_NT_HEADERS", offset};
  in.expect<u32>(0x0000'4550, "Signature");  // "PE\0\0"
  // A braced list is evaluated left to right, so the fields stand in file order.
  const FileHeader header{
      .machine = Machine{in.read_u16("FileHeader.Machine")},
      .section_count = in.read_u16("FileHeader.NumberOfSections"),
      .time_date_stamp = in.read_u32("FileHeader.TimeDateStamp"),
      .symbol_table_offset = in.read_u32("FileHeader.PointerToSymbolTable"),
      .symbol_count = in.read_u32("FileHeader.NumberOfSymbols"),
      .optional_header_size = in.read_u16("FileHeader.SizeOfOptionalHeader"),
      .characteristics = in.read_u16("FileHeader.Characteristics"),
  };
  return in.finish(header);
}

core::Result<OptionalHeader> read_optional_header(core::ByteView file, u64 offset,
                                                  u32 declared_size, core::Findings& findings) {
  const auto left = file.size() - std::min<u64>(offset, file.size());
  core::Reader in{file.last(left), "IMAGE_OPTIONAL_HEADER", offset};
  const auto magic = in.read_u16("Magic");
  if (magic != 0x10b && magic != 0x20b) in.reject(Fault::bad_magic, offset, "Magic", 0x10b, magic);
  const bool plus = magic == 0x20b;
  const unsigned word = plus ? 8 : 4;
  OptionalHeader header{};
  header.pe32_plus = plus;
  header.major_linker_version = in.read_u8("MajorLinkerVersion");
  header.minor_linker_version = in.read_u8("MinorLinkerVersion");
  in.skip(12, "SizeOfCode to SizeOfUninitializedData");
  header.entry_point = Rva{in.read_u32("AddressOfEntryPoint")};
  in.skip(plus ? 4 : 8, "BaseOfCode and BaseOfData");
  header.image_base = in.read_word(word, "ImageBase");
  header.section_alignment = in.read_u32("SectionAlignment");
  header.file_alignment = in.read_u32("FileAlignment");
  header.major_operating_system_version = in.read_u16("MajorOperatingSystemVersion");
  header.minor_operating_system_version = in.read_u16("MinorOperatingSystemVersion");
  header.major_image_version = in.read_u16("MajorImageVersion");
  header.minor_image_version = in.read_u16("MinorImageVersion");
  header.major_subsystem_version = in.read_u16("MajorSubsystemVersion");
  header.minor_subsystem_version = in.read_u16("MinorSubsystemVersion");
  in.skip(4, "Win32VersionValue");
  header.size_of_image = in.read_u32("SizeOfImage");
  header.size_of_headers = in.read_u32("SizeOfHeaders");
  header.checksum_offset = in.offset();
  header.checksum = in.read_u32("CheckSum");
  header.subsystem = in.read_u16("Subsystem");
  header.dll_characteristics = in.read_u16("DllCharacteristics");
  in.skip(u64{4} * word, "SizeOfStackReserve to SizeOfHeapCommit");
  in.skip(4, "LoaderFlags");
  const auto count = in.read_u32("NumberOfRvaAndSizes");
  if (!in.ok()) return core::fail(in.error());

  const auto present = std::min<u64>({count, directory_count, in.remaining() / 8});
  if (present < count)
    findings.info(
        "directory-count", in.offset() - 4, "NumberOfRvaAndSizes is {}, but there {}", count,
        present == 1 ? std::string{"is 1 directory"} : fmt::format("are {} directories", present));
  for (std::size_t i = 0; i < present; ++i)
    header.directories[i] = {.address = Rva{in.read_u32("DataDirectory.VirtualAddress")},
                             .size = in.read_u32("DataDirectory.Size")};
  if (const auto size = in.offset() - offset; declared_size < size)
    findings.warning("optional-header-size", offset - 4,
                     "SizeOfOptionalHeader is {:#x}, but the header has {:#x} bytes with its {}, "
                     "all of which the loader reads",
                     declared_size, size, core::counted(present, "directory", "directories"));
  else if (declared_size > left)
    findings.warning("optional-header-size", offset - 4,
                     "SizeOfOptionalHeader is {:#x}, so that the section table would begin behind "
                     "the end of the file; the header has {:#x} bytes",
                     declared_size, size);
  return in.finish(header);
}

core::Result<SectionHeader> read_section_header(core::ByteView file, u64 offset) {
  const auto left = file.size() - std::min<u64>(offset, file.size());
  core::Reader in{file.last(left), "IMAGE_SECTION_HEADER", offset};
  const SectionHeader header{
      .raw_name = in.read_chars<8>("Name"),
      .virtual_size = in.read_u32("VirtualSize"),
      .address = Rva{in.read_u32("VirtualAddress")},
      .raw_size = in.read_u32("SizeOfRawData"),
      .raw_offset = in.read_u32("PointerToRawData"),
      .characteristics = (in.skip(12, "PointerToRelocations to NumberOfLinenumbers"),
                          in.read_u32("Characteristics")),
  };
  return in.finish(header);
}

}  // namespace coldtrace::pe
