#pragma once

#include <memory>
#include <string_view>

#include "coldtrace/core/error.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// The bytes of a file's unnamed stream, as a program on Windows reads them: of a resident stream;
// of runs with holes, followed by what was never written; of compressed clusters (LZNT1); and of
// files that Windows keeps compressed in the stream WofCompressedData (XPRESS in chunks of 4, 8 or
// 16 KiB, LZX in chunks of 32 KiB). The image of `volume` must outlive the source, `file` need not.
// Several threads may read it at once.
//
// Only what the volume defines as zeros reads as zeros. These are errors with the byte of the image
// that shows the problem: a read of what no run maps, what lies outside the volume, what does not
// decompress to its required size, or what is in a hole of a stream without holes. `unsupported`
// reports what is not read: encrypted streams, files whose content is in a WIM archive, and those
// with another owner of the reparse point (cloud, deduplication) if they have holes. A source is as
// large as the file says; its reader must limit the amount read. Source: linux-ntfs documentation,
// "Compression Units"; [MS-FSCC] 2.1.2.1 for the tag; the chunk table of WofCompressedData as
// observed on Windows 10 and from wimlib and ntfs-3g's plugin.
core::Result<std::unique_ptr<core::ImageSource>> open_file_content(const Volume& volume,
                                                                   const File& file);

// Bytes of the image that the streams of a file occupy: the limit for its contents.
[[nodiscard]] u64 stored_content_size(const Volume& volume, const File& file);

// The code of the finding for content that cannot be read: "content-encrypted",
// "content-elsewhere", "content-unsupported", or "content-damaged".
[[nodiscard]] core::Name content_finding(const core::ParseError& error);
// The finding for the file with this path. Content that is not on the volume, or that is unreadable
// without a key, is not damage but information.
void note_content(std::string_view path, const core::ParseError& error, core::Findings& findings);

}  // namespace coldtrace::ntfs
