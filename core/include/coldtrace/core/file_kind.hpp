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

// For people, completing "it is": "an ELF file (Linux, BSD)".
[[nodiscard]] std::string_view to_string(FileKind kind);

// For programs: "elf", "ntfs_volume".
[[nodiscard]] std::string_view name_of(FileKind kind);

// A guess from signatures at fixed places: the file may still be damaged. Reads the file's first
// pages and its last one and, where these are zeros, a bounded number of others. Fails if some of
// that cannot be read, unless the rest tells the kind.
[[nodiscard]] Result<FileKind> recognize_file(const ImageSource& file);
[[nodiscard]] Result<FileKind> recognize_file(const FileView& file);

// As recognize_file, for bytes that are the whole file.
[[nodiscard]] FileKind recognize_bytes(ByteView bytes);

// Which volume starts with these bytes: one of the volumes, `zeros` or `unknown`. The first sector
// suffices for the volumes of Windows, the others need three.
[[nodiscard]] FileKind recognize_volume(ByteView head);

// True for virtual disks, whose sectors do not lie in sequence in the file.
[[nodiscard]] bool is_virtual_disk(FileKind kind);

// True for a file that starts as a PE image does and ends before the signature of its PE header.
// Complete DOS and 16-bit programs, which start like that too, are not of these kinds.
[[nodiscard]] bool is_cut_image(FileKind kind);

// True for a file that starts with a DOS header, whatever follows it.
[[nodiscard]] bool has_dos_header(FileKind kind);

// True for a file that has to be unpacked before anything can be said of its contents.
[[nodiscard]] bool is_packed(FileKind kind);

}  // namespace coldtrace::core
