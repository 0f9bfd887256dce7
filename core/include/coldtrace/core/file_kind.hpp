#pragma once

#include <string_view>

#include "coldtrace/core/image_source.hpp"

namespace coldtrace::core {

class FileView;

// What a file is, by its contents alone.
enum class FileKind : u8 {
#define FILE_KIND(name, text) name,
#include "coldtrace/core/file_kinds.inc"
#undef FILE_KIND
};

// For people, to be read behind "it is": "an ELF file (Linux, BSD)".
[[nodiscard]] std::string_view to_string(FileKind kind);

// For programs: "elf", "ntfs_volume".
[[nodiscard]] std::string_view name_of(FileKind kind);

// A guess from signatures at fixed places: a file of the kind may still be damaged. Reads the
// file's first pages and its last one, and where these are zeros a bounded number of others. Fails
// where some of that cannot be read, unless the rest tells the kind.
[[nodiscard]] Result<FileKind> recognize_file(const ImageSource& file);
[[nodiscard]] Result<FileKind> recognize_file(const FileView& file);

// The same of all bytes that there are.
[[nodiscard]] FileKind recognize_bytes(ByteView bytes);

// Which volume starts with these bytes: one of the volumes, `zeros` or `unknown`. One sector
// tells the kinds of Windows, three the others.
[[nodiscard]] FileKind recognize_volume(ByteView head);

// True for disks of virtual machines, whose sectors do not lie one after the other in the file.
[[nodiscard]] bool is_virtual_disk(FileKind kind);

// True for what starts as a PE image does and ends before the signature of its PE header. Whole
// programs of DOS and 16-bit ones, which start like that too, are not of these kinds.
[[nodiscard]] bool is_cut_image(FileKind kind);

// True for what starts with a DOS header, whatever stands behind it.
[[nodiscard]] bool has_dos_header(FileKind kind);

// True for what has to be unpacked before anything can be said of its contents.
[[nodiscard]] bool is_packed(FileKind kind);

}  // namespace coldtrace::core
