#pragma once

#include <memory>
#include <string_view>

#include "coldtrace/core/error.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// The bytes of a file's unnamed stream, as a program on Windows reads them: of a resident stream,
// of runs with holes and what was never written behind them, of compressed clusters (LZNT1), and of
// files that Windows keeps compressed in the stream WofCompressedData (XPRESS in chunks of 4, 8 or
// 16 KiB, LZX in chunks of 32 KiB). The image of `volume` outlives the source, `file` need not; it
// may be read by several threads at once.
//
// Zeros are what the volume says are zeros and nothing else: a read of what no run maps, what lies
// outside the volume, what does not decompress to the size that it must have, or what is in a hole
// of a stream without holes is an error with the byte of the image that shows it. `unsupported`
// says what is not read: encrypted streams, files whose content is kept in a WIM archive, and those
// of another owner of a reparse point (cloud, deduplication) where they have holes. A source is as
// large as the file says; who reads it bounds what it reads. Source: linux-ntfs documentation,
// "Compression Units"; [MS-FSCC] 2.1.2.1 for the tag; the chunk table of WofCompressedData as
// observed on Windows 10 and by wimlib and ntfs-3g's plugin.
core::Result<std::unique_ptr<core::ImageSource>> open_file_content(const Volume& volume,
                                                                   const File& file);

// Bytes of the image that the streams of a file take: what its contents can justify.
[[nodiscard]] u64 stored_content_size(const Volume& volume, const File& file);

// The code of the finding about a content that cannot be read: "content-encrypted",
// "content-elsewhere", "content-unsupported", or "content-damaged".
[[nodiscard]] core::Name content_finding(const core::ParseError& error);
// That finding of the file with this path. What the volume does not have, or has for no one without
// a key, is not damage: information.
void note_content(std::string_view path, const core::ParseError& error, core::Findings& findings);

}  // namespace coldtrace::ntfs
