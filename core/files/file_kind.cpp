#include "coldtrace/core/file_kind.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/skippable_frames.hpp"
#include "coldtrace/core/text.hpp"
#include "core/files/dos_program.hpp"
#include "core/files/signature.hpp"
#include "core/files/usn_journal.hpp"

namespace coldtrace::core {
namespace {

using namespace std::string_view_literals;

using Signature = SignatureOf<FileKind>;

// Sources: each format's own specification, unless there is another.
constexpr std::array signatures = {
    Signature{FileKind::elf, 0, "\x7f\x45LF"sv},
    Signature{FileKind::dos_program, 0, "ZM"sv},
    Signature{FileKind::mach_o, 0, "\xce\xfa\xed\xfe"sv},
    Signature{FileKind::mach_o, 0, "\xcf\xfa\xed\xfe"sv},
    Signature{FileKind::mach_o_universal, 0, "\xca\xfe\xba\xbe"sv},
    Signature{FileKind::archive, 0, "!<arch>\n"sv},
    Signature{FileKind::pdb, 0, "Microsoft C/C++ MSF 7.00\r\n\x1a"sv},
    Signature{FileKind::pdb_2, 0, "Microsoft C/C++ program database 2.00"sv},
    // Source: the MSFZ specification in the documents of pdb-rs.
    Signature{FileKind::pdb_z, 0, "Microsoft MSFZ Container\r\n\x1a\x41LD"sv},
    Signature{FileKind::portable_pdb, 0, "BSJB"sv},
    Signature{FileKind::crash_dump_32, 0, "PAGEDUMP"sv},
    Signature{FileKind::crash_dump_64, 0, "PAGEDU64"sv},
    Signature{FileKind::minidump, 0, "MDMP"sv},
    Signature{FileKind::event_log, 0, "ElfFile\0"sv},
    Signature{FileKind::event_log_old, 0, "\x30\0\0\0LfLe"sv},
    Signature{FileKind::registry_hive, 0, "regf"sv},
    // libscca documentation: versions 17 (XP) to 31 (Windows 11).
    Signature{FileKind::prefetch, 1, "\0\0\0SCCA"sv},
    Signature{FileKind::ese_database, 4, "\xef\xcd\xab\x89"sv},
    Signature{FileKind::ole_compound, 0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv},
    // IETF draft "PCAP Capture File Format": micro- and nanoseconds in both byte orders.
    Signature{FileKind::capture, 0, "\xd4\xc3\xb2\xa1"sv},
    Signature{FileKind::capture, 0, "\xa1\xb2\xc3\xd4"sv},
    Signature{FileKind::capture, 0, "\x4d\x3c\xb2\xa1"sv},
    Signature{FileKind::capture, 0, "\xa1\xb2\x3c\x4d"sv},
    Signature{FileKind::capture_ng, 0, "\x0a\x0d\x0d\x0a"sv},
    // sqlite.org, "Database File Format", 1.3.
    Signature{FileKind::sqlite, 0, "SQLite format 3\0"sv},

    Signature{FileKind::ctrace, 0, "COLDTRC\x1a"sv},
    Signature{FileKind::hook_table, 0, "HOOKTAB\x1a"sv},

    // libewf documentation, "Expert Witness Compression Format" and "... 2".
    Signature{FileKind::ewf, 0, "EVF\x09\x0d\x0a\xff\0"sv},
    Signature{FileKind::ewf_2, 0, "EVF2\x0d\x0a\x81\0"sv},
    Signature{FileKind::ewf_logical, 0, "LVF\x09\x0d\x0a\xff\0"sv},
    Signature{FileKind::ewf_logical, 0, "LEF2\x0d\x0a\x81\0"sv},
    Signature{FileKind::aff, 0, "AFF10\r\n\0"sv},
    // Microsoft, "Virtual Hard Disk Image Format Specification": a dynamic one starts with a copy
    // of its footer. [MS-VHDX] 2.2.1.
    Signature{FileKind::vhd, 0, "conectix"sv},
    Signature{FileKind::vhdx, 0, "vhdxfile"sv},
    // VMware, "Virtual Disk Format 5.0"; COWD is the sparse extent of ESX.
    Signature{FileKind::vmdk, 0, "KDMV"sv},
    Signature{FileKind::vmdk, 0, "COWD"sv},
    Signature{FileKind::vmdk_descriptor, 0, "# Disk DescriptorFile"sv},
    Signature{FileKind::qcow, 0, "QFI\xfb\0\0\0"sv},
    Signature{FileKind::vdi, 0x40, "\x7f\x10\xda\xbe"sv},
    // QEMU, docs/interop/qed_spec.txt and docs/interop/parallels.txt.
    Signature{FileKind::qed, 0, "QED\0"sv},
    Signature{FileKind::parallels, 0, "WithoutFreeSpace"sv},
    Signature{FileKind::parallels, 0, "WithouFreSpacExt"sv},

    // [MS-FSCC] and the linux-ntfs documentation: multi-sector headers, whose update sequence
    // array stands behind the fields of each kind.
    Signature{FileKind::ntfs_mft, 0, "FILE\x30\0"sv},
    Signature{FileKind::ntfs_mft, 0, "FILE\x2a\0"sv},
    Signature{FileKind::ntfs_mft, 0, "BAAD\x30\0"sv},
    Signature{FileKind::ntfs_mft, 0, "BAAD\x2a\0"sv},
    Signature{FileKind::ntfs_log_file, 0, "RSTR"sv},
    Signature{FileKind::ntfs_log_file, 0, "RCRD"sv},
    Signature{FileKind::ntfs_log_file, 0, "CHKD\x1e\0"sv},  // as chkdsk leaves it
    Signature{FileKind::ntfs_index, 0, "INDX\x28\0"sv},

    Signature{FileKind::gzip, 0, "\x1f\x8b"sv},
    Signature{FileKind::xz, 0, "\xfd\x37zXZ\0"sv},
    Signature{FileKind::bzip2, 4, "\x31\x41\x59\x26\x53\x59"sv},  // behind "BZh9"
    Signature{FileKind::bzip2, 4, "\x17\x72\x45\x38\x50\x90"sv},  // of nothing
    Signature{FileKind::zstandard, 0, "\x28\xb5\x2f\xfd"sv},
    Signature{FileKind::lz4, 0, "\x04\x22\x4d\x18"sv},
    Signature{FileKind::lz4, 0, "\x02\x21\x4c\x18"sv},  // of its legacy frames
    Signature{FileKind::compress_exe, 0, "SZDD\x88\xf0\x27\x33"sv},
    Signature{FileKind::zip, 0, "PK\x03\x04"sv},
    Signature{FileKind::zip, 0, "PK\x05\x06"sv},  // without a member
    Signature{FileKind::zip, 0, "PK\x07\x08"sv},  // of several parts
    Signature{FileKind::seven_zip, 0, "7z\xbc\xaf\x27\x1c"sv},
    Signature{FileKind::rar, 0, "Rar!\x1a\x07"sv},
    Signature{FileKind::cabinet, 0, "MSCF"sv},
    Signature{FileKind::tar, 257, "ustar"sv},
    Signature{FileKind::wim, 0, "MSWIM\0\0\0"sv},
    Signature{FileKind::mam, 0, "MAM\x04"sv},
    Signature{FileKind::dcm, 0, "DCM\x01"sv},
    Signature{FileKind::dcs, 0, "DCS\x01"sv},

    Signature{FileKind::iso, 0x8001, "CD001"sv},
    Signature{FileKind::btrfs_volume, 0x10040, "_BHRfS_M"sv},
};

constexpr u64 page_size = 4096;
constexpr u64 sector_size = 512;

FileKind find_signature(ByteView bytes) {
  const auto* const found = std::ranges::find_if(signatures, [&](const Signature& signature) {
    return matches(bytes, signature.offset, signature.bytes);
  });
  return found == signatures.end() ? FileKind::unknown : found->kind;
}

// By what the bytes lack, and not by what they have: one more of them may tell another kind.
bool is_told_by_absence(FileKind kind) {
  switch (kind) {
    case FileKind::unknown:
    case FileKind::zeros:
    case FileKind::text:
    case FileKind::xml:
    case FileKind::json:
    case FileKind::dos_program:
    case FileKind::dos_program_cut:
    case FileKind::dos_header_cut:
      return true;
    default:
      return false;
  }
}

FileKind recognize_dos(ByteView head, u64 size, const ReadAt& read) {
  constexpr std::size_t signature_size = 4;
  const auto at = load<u32>(head, 0x3c);
  const auto header = at ? read(*at, signature_size) : std::vector<std::byte>{};
  const auto is = [&](std::string_view signature) { return matches(header, 0, signature); };
  if (is("PE\0\0"sv)) return FileKind::pe_image;
  if (is("NE"sv)) return FileKind::ne_image;
  if (is("LE"sv)) return FileKind::le_image;
  if (is("LX"sv)) return FileKind::lx_image;
  if (is("W3"sv) || is("W4"sv)) return FileKind::vxd_library;
  if (is_dos_program(head, size)) return FileKind::dos_program;
  if (!at) return FileKind::dos_header_cut;
  return header.size() < signature_size ? FileKind::dos_program_cut : FileKind::dos_program;
}

// A COFF header has no signature: a known machine, and a section table inside the file.
bool is_coff_object(ByteView head, u64 size) {
  constexpr u64 header_size = 20;
  constexpr u64 section_size = 40;
  const auto header = Fields<header_size>::at(head, 0);
  if (!header) return false;
  const auto machine = header->get<u16, 0>();
  const bool known = machine == 0x14c || machine == 0x8664 || machine == 0xaa64 ||
                     machine == 0x1c4 || machine == 0x200 || machine == 0xa641;
  const u64 sections = header->get<u16, 2>();
  return known && header->get<u16, 16>() == 0 && sections > 0 && header->get<u32, 8>() <= size &&
         header_size + sections * section_size <= size;
}

// A trace has no signature either: its first WMI_BUFFER_HEADER is of type 4 and holds at least
// the header event.
bool is_event_trace(ByteView head) {
  constexpr u64 header_size = 72;
  const auto header = Fields<header_size>::at(head, 0);
  if (!header) return false;
  const auto size = header->get<u32, 0>();
  const auto used = header->get<u32, 0x30>();
  return header->get<u16, 0x36>() == 4 && header->get<u32, 12>() == 0 && used > header_size &&
         used <= size && size % 8 == 0;
}

// Text in UTF-8, or in UTF-16 as far as it is ASCII; empty when it is neither.
std::string to_text(ByteView head) {
  auto chars = to_chars(head);
  if (chars.starts_with("\xef\xbb\xbf")) chars.remove_prefix(3);
  std::string text;
  if (chars.starts_with("\xff\xfe")) {
    for (std::size_t i = 2; i + 1 < chars.size(); i += 2)
      text += chars[i + 1] == 0 ? chars[i] : '?';
  } else {
    // The last character may be cut.
    for (int cut = 0; cut < 4 && !chars.empty() && !is_valid_utf8(chars); ++cut)
      chars.remove_suffix(1);
    if (!is_valid_utf8(chars)) return {};
    text = chars;
  }
  const auto is_refused = [](char c) {
    return is_control(c) && c != '\t' && c != '\n' && c != '\r' && c != '\f';
  };
  return std::ranges::any_of(text, is_refused) ? std::string{} : text;
}

FileKind recognize_text(std::string_view text) {
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == text.npos) return text.empty() ? FileKind::unknown : FileKind::text;
  text.remove_prefix(start);
  if (text.find("<instrumentationManifest") != text.npos) return FileKind::manifest;
  if (text.starts_with("<?xml")) return FileKind::xml;
  if (text.starts_with("Windows Registry Editor") || text.starts_with("REGEDIT4"))
    return FileKind::registry_text;
  if (text.front() == '{' || text.front() == '[') {
    return text.find("\"coldtrace.") < 64 || text.find("\"tool\":\"coldtrace ") != text.npos
               ? FileKind::coldtrace_json
               : FileKind::json;
  }
  // MD5|name|inode|mode|UID|GID|size|atime|mtime|ctime|crtime, of The Sleuth Kit.
  if (std::ranges::count(text.substr(0, text.find('\n')), '|') == 10) return FileKind::bodyfile;
  return FileKind::text;
}

// The application that the section header names (shb_userappl); the draft has its options behind 24
// bytes.
bool is_own_capture(ByteView head) {
  constexpr u16 application = 4;
  const u64 end = std::min<u64>(load<u32>(head, 4).value_or(0), head.size());
  for (u64 at = 24; at + 4 <= end;) {
    const auto code = load<u16>(head, at).value_or(0);
    const auto length = load<u16>(head, at + 2).value_or(0);
    if (code == application) return matches(head, at + 4, "coldtrace "sv);
    if (code == 0) return false;
    at += 4 + (length + 3U) / 4 * 4;
  }
  return false;
}

// The application id and, so that it is the whole of one, the size in pages: "Database File
// Format".
bool is_own_database(ByteView head, u64 size) {
  const auto page = load_big<u16>(head, 16).value_or(0);
  const auto pages = load_big<u32>(head, 28).value_or(0);
  return matches(head, 68, "cold"sv) && size == u64{page} * pages;
}

FileKind refine(FileKind kind, ByteView head, u64 size) {
  if (kind == FileKind::capture_ng && is_own_capture(head)) return FileKind::coldtrace_capture;
  if (kind == FileKind::sqlite && is_own_database(head, size)) return FileKind::coldtrace_database;
  return kind;
}

FileKind recognize(u64 size, const ReadAt& read, const NextData& next_data) {
  if (size == 0) return FileKind::empty;
  constexpr u64 head_size = 0x11000;  // the farthest signature is in it
  auto head_bytes = read(0, std::min(size, 2 * page_size));
  const ByteView head{head_bytes};
  if (head.empty()) return FileKind::unknown;
  if (matches(head, 0, "MZ"sv)) {
    const auto kind = recognize_dos(head, size, read);
    // A text may begin like that too; the fourth byte of images, of e_cblp, is 0 or 1.
    constexpr std::size_t shortest = 4;
    const bool is_text = is_cut_image(kind) && size >= shortest && !to_text(head).empty();
    return is_text ? FileKind::text : kind;
  }
  if (const auto kind = find_signature(head); kind != FileKind::unknown)
    return refine(kind, head, size);
  if (const auto frame = behind_skippable_frames(size, read); frame > 0)
    return find_signature(read(frame, 4)) == FileKind::lz4 ? FileKind::lz4 : FileKind::zstandard;

  // A fixed VHD is the disk itself and then a footer, of 511 bytes before 2004.
  for (const u64 footer : {sector_size, sector_size - 1})
    if (size > footer && matches(read(size - footer, 8), 0, "conectix"sv))
      return FileKind::vhd_fixed;
  if (is_usn_record(head)) return FileKind::ntfs_usn_journal;
  const bool zeros = is_zero(head.first(std::min<u64>(head.size(), page_size)));
  if (const auto kind = recognize_volume(head);
      kind != FileKind::unknown && kind != FileKind::zeros)
    return kind;
  if (matches(head, sector_size, "EFI PART"sv) || matches(head, page_size, "EFI PART"sv))
    return FileKind::disk_gpt;
  if (matches(head, page_size - 10, "SWAPSPACE2"sv)) return FileKind::swap_volume;
  if (const auto kind = find_signature(read(0, std::min(size, head_size)));
      kind != FileKind::unknown)
    return kind;
  if (zeros)
    return holds_usn_journal(size, read, next_data) ? FileKind::ntfs_usn_journal : FileKind::zeros;

  // Anonymous objects start with 0, 0xffff: import library members and /GL or /bigobj objects.
  if (matches(head, 0, "\0\0\xff\xff"sv)) return FileKind::coff_object_extended;
  if (is_coff_object(head, size)) return FileKind::coff_object;
  if (is_event_trace(head)) return FileKind::event_trace;
  if (matches(head, sector_size - 2, "\x55\xaa"sv)) return FileKind::disk_mbr;
  return recognize_text(to_text(head));
}

}  // namespace

std::string_view to_string(FileKind kind) {
  switch (kind) {
#define FILE_KIND(name, text) \
  case FileKind::name:        \
    return text;
#include "coldtrace/core/file_kinds.inc"
#undef FILE_KIND
  }
  return "of unknown kind";
}

std::string_view name_of(FileKind kind) {
  switch (kind) {
#define FILE_KIND(name, text) \
  case FileKind::name:        \
    return #name;
#include "coldtrace/core/file_kinds.inc"
#undef FILE_KIND
  }
  return "unknown";
}

Result<FileKind> recognize_file(const ImageSource& file) {
  std::optional<ParseError> error;
  const auto read = [&](u64 offset, u64 length) {
    if (offset >= file.size()) return std::vector<std::byte>{};
    std::vector<std::byte> bytes(std::min(length, file.size() - offset));
    const auto done = file.read_at(offset, bytes);
    if (!done) {
      if (!error) error = done.error();
      bytes.resize(read_before_error(file, offset, bytes));
    }
    return bytes;
  };
  const auto kind =
      recognize(file.size(), read, [&](u64 offset) { return file.next_data(offset); });
  if (error && is_told_by_absence(kind)) return fail(*error);
  return kind;
}

Result<FileKind> recognize_file(const FileView& file) {
  bool is_cut = false;
  const auto read = [&](u64 offset, u64 length) {
    const auto bytes = file.clip(offset, length);
    is_cut =
        is_cut || (offset < file.size() && bytes.size() < std::min(length, file.size() - offset));
    return std::vector<std::byte>{bytes.begin(), bytes.end()};
  };
  const auto kind = recognize(file.size(), read, [](u64 offset) { return offset; });
  if (is_cut && file.error() && is_told_by_absence(kind)) return fail(*file.error());
  return kind;
}

FileKind recognize_bytes(ByteView bytes) {
  const auto read = [&](u64 offset, u64 length) {
    const auto part = FileView{bytes}.clip(offset, length);
    return std::vector<std::byte>{part.begin(), part.end()};
  };
  return recognize(bytes.size(), read, [](u64 offset) { return offset; });
}

bool is_virtual_disk(FileKind kind) {
  switch (kind) {
    case FileKind::vhd:
    case FileKind::vhdx:
    case FileKind::vmdk:
    case FileKind::vmdk_descriptor:
    case FileKind::qcow:
    case FileKind::vdi:
    case FileKind::qed:
    case FileKind::parallels:
      return true;
    default:
      return false;
  }
}

bool is_cut_image(FileKind kind) {
  return kind == FileKind::dos_header_cut || kind == FileKind::dos_program_cut;
}

bool has_dos_header(FileKind kind) {
  return kind >= FileKind::pe_image && kind <= FileKind::vxd_library;
}

bool is_packed(FileKind kind) {
  return kind >= FileKind::gzip && kind <= FileKind::dcs;
}

}  // namespace coldtrace::core
