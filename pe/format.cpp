#include "pe/format.hpp"

#include "core/text.hpp"

namespace coldtrace::pe {
namespace {

struct Signature {
  u64 offset;
  std::string_view bytes;
  std::string_view sentence;
};

using namespace std::string_view_literals;

// Sources: each format's own specification.
constexpr Signature signatures[] = {
    {0,
     "\x7f"
     "ELF"sv,
     "an ELF file (Linux, BSD), not a PE image"},
    {0, "ZM"sv, "a DOS program (signature ZM), not a PE image"},
    {0, "\xce\xfa\xed\xfe"sv, "a Mach-O file (macOS), not a PE image"},
    {0, "\xcf\xfa\xed\xfe"sv, "a Mach-O file (macOS), not a PE image"},
    {0, "\xca\xfe\xba\xbe"sv, "a Mach-O universal file or a Java class, not a PE image"},
    {0, "!<arch>\n"sv, "an archive (.lib or .a), not a PE image"},
    {0, "Microsoft C/C++ MSF 7.00\r\n\x1a"sv, "a PDB (program database), not a PE image"},
    {0, "Microsoft C/C++ program database 2.00"sv,
     "a PDB (program database, version 2), not a PE image"},
    {0, "BSJB"sv, "a portable PDB (.NET), not a PE image"},
    {0, "PAGEDUMP"sv, "a crash dump of a 32-bit kernel, not a PE image"},
    {0, "PAGEDU64"sv, "a crash dump of a 64-bit kernel, not a PE image"},
    {0, "MDMP"sv, "a minidump, not a PE image"},
    {3, "NTFS    "sv, "an NTFS volume, not a PE image"},
    {3, "-FVE-FS-"sv, "a BitLocker volume, not a PE image"},
    {0, "ElfFile\0"sv, "an event log (.evtx), not a PE image"},
    {0, "regf"sv, "a registry hive, not a PE image"},
    {0, "MAM\x04"sv, "compressed by Windows (MAM, as prefetch files are), not a PE image"},
    {0, "DCM\x01"sv, "compressed by Windows servicing (DCM), not a PE image"},
    {0, "DCS\x01"sv, "compressed by Windows servicing (DCS), not a PE image"},
    {0, "SZDD\x88\xf0\x27\x33"sv, "compressed with Microsoft's compress.exe; expand it first"},
    {0, "MSCF"sv, "a cabinet (.cab); unpack it first"},
    {0, "\x1f\x8b"sv, "compressed with gzip; unpack it first"},
    {0, "PK\x03\x04"sv, "a ZIP archive; unpack it first"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive; unpack it first"},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "compressed with xz; unpack it first"},
    {0, "\x28\xb5\x2f\xfd"sv, "compressed with Zstandard; unpack it first"},
    {0, "BZh"sv, "compressed with bzip2; unpack it first"},
    {0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "an OLE compound file (.msi, .doc), not a PE image"},
};

bool matches(core::ByteView file, u64 offset, std::string_view bytes) {
  const auto part = core::slice(file, offset, bytes.size());
  return part && core::to_chars(*part) == bytes;
}

std::string_view recognize_dos(core::ByteView file) {
  const u64 at = core::load<u32>(file, 0x3c).value_or(0);
  if (matches(file, at, "PE\0\0"sv)) return {};
  if (matches(file, at, "NE"sv)) return "an NE file (16-bit Windows), not a PE image";
  if (matches(file, at, "LE"sv))
    return "an LE file (a VxD of Windows 3.x and 9x, or OS/2), not a PE image";
  if (matches(file, at, "LX"sv)) return "an LX file (OS/2), not a PE image";
  if (matches(file, at, "W3"sv) || matches(file, at, "W4"sv))
    return "a library of VxDs (VMM32.VXD), not a PE image";
  constexpr u64 dos_header_size = 64;
  if (file.size() < dos_header_size) return "cut off inside its DOS header";
  if (at >= file.size()) return "a DOS program, or cut off before its PE header";
  return "a DOS program (MZ without a PE header)";
}

// A COFF header has no signature: a known machine, and a section table inside the file.
bool is_coff_object(core::ByteView file) {
  constexpr u64 header_size = 20;
  constexpr u64 section_size = 40;
  const auto header = core::Fields<header_size>::at(file, 0);
  if (!header) return false;
  const auto machine = header->get<u16, 0>();
  const bool known = machine == 0x14c || machine == 0x8664 || machine == 0xaa64 ||
                     machine == 0x1c4 || machine == 0x200 || machine == 0xa641;
  const u64 sections = header->get<u16, 2>();
  const u64 symbols = header->get<u32, 8>();
  return known && header->get<u16, 16>() == 0 && sections > 0 && symbols <= file.size() &&
         core::slice(file, header_size, sections * section_size);
}

// A trace has no signature either: its first WMI_BUFFER_HEADER is of type 4 and holds at least
// the header event.
bool is_event_trace(core::ByteView file) {
  constexpr u64 header_size = 72;
  const auto header = core::Fields<header_size>::at(file, 0);
  if (!header) return false;
  const auto size = header->get<u32, 0>();
  const auto used = header->get<u32, 0x30>();
  return header->get<u16, 0x36>() == 4 && header->get<u32, 12>() == 0 && used > header_size &&
         used <= size && size % 8 == 0;
}

}  // namespace

std::string_view recognize_format(core::ByteView file) {
  if (file.empty()) return "empty";
  if (matches(file, 0, "MZ"sv)) return recognize_dos(file);
  for (const auto& signature : signatures)
    if (matches(file, signature.offset, signature.bytes)) return signature.sentence;
  // Anonymous objects start with 0, 0xffff: import library members and /GL or /bigobj objects.
  if (matches(file, 0, "\0\0\xff\xff"sv))
    return "a COFF object with an extended header (.obj), not a PE image";
  if (is_coff_object(file)) return "a COFF object (.obj), not a PE image";
  if (is_event_trace(file)) return "an event trace (.etl), not a PE image";
  constexpr u64 boot_signature = 510;
  if (matches(file, boot_signature, "\x55\xaa"sv)) return "a disk image, not a PE image";
  return "not a PE image: it does not start with MZ";
}

}  // namespace coldtrace::pe
