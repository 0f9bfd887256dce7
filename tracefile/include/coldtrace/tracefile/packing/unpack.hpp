#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::tracefile {

// Whether unpack() knows the format: gzip, and through libarchive xz, bzip2, Zstandard, LZ4, ZIP,
// 7-Zip, cabinets and tar.
[[nodiscard]] bool is_unpackable(core::FileKind kind);

// A file that was taken out of a packed file.
struct UnpackedFile {
  std::string name;  // of the member, with '!' between nested ones; may be empty
  std::unique_ptr<core::ImageSource> bytes;
};

// What a packed file held.
struct Unpacked {
  std::vector<UnpackedFile> files;  // those that are wanted, in the order of the archive
  // Members that are not wanted, or cannot be read: their number and the first names.
  u64 others = 0;
  std::vector<std::string> other_names;
  u64 encrypted = 0;
  std::vector<std::string> encrypted_names;
  std::string damage;          // the first; empty: none
  bool needs_library = false;  // libarchive, which is not installed
};

// The `limit` of unpack() if the user gives none: no more than 64 GiB, and no more than a packed
// file of `size` bytes justifies.
[[nodiscard]] u64 default_unpacked_limit(u64 size);

// Whether a member of an archive is wanted: by its first bytes, at most 256 KiB, the kind of file
// that they start, and its name.
using WantedMember =
    std::function<bool(core::ByteView head, core::FileKind kind, std::string_view name)>;

// By its contents; if its start is damaged, also by its name.
[[nodiscard]] bool is_trace_member(core::ByteView head, core::FileKind kind, std::string_view name);

// Unpacks what is wanted of a packed file, by the contents of its members and of nested packed
// files, into one temporary file of at most `limit` bytes; a single compressed file is always
// wanted. What is damaged, encrypted or beyond the limit is a finding; what came before it stays.
// Nothing is ever written under a member's name.
core::Result<Unpacked> unpack(const core::ImageSource& source, core::FileKind kind, u64 limit,
                              core::Findings& findings,
                              const WantedMember& wanted = is_trace_member);

// Whether something that is wanted begins in a packed file, including a single compressed file and
// nested ones, as far as the first bytes of the outer one tell. Reads no more than necessary.
[[nodiscard]] bool holds_member(const core::ImageSource& source, core::FileKind kind,
                                const WantedMember& wanted);

// Why there are no files, for users: "it is a ZIP archive without a trace; it holds a.txt".
[[nodiscard]] std::string describe_none(const Unpacked& unpacked, core::FileKind kind,
                                        std::string_view wanted);

// Why none of several files is taken: "it is a ZIP archive with several images: a, b; unpack it
// first", where `wanted` is "images".
[[nodiscard]] std::string describe_several(const Unpacked& unpacked, core::FileKind kind,
                                           std::string_view wanted);

// `packed-others`: members besides those that are wanted. No finding if there are none.
void note_others(const Unpacked& unpacked, core::Findings& findings);

// "a, b and 3 others" of `count` names of which the first are given.
[[nodiscard]] std::string list_names(const std::vector<std::string>& names, u64 count);

}  // namespace coldtrace::tracefile
