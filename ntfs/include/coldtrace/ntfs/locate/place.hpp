#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/ntfs/row.hpp"
#include "coldtrace/ntfs/structures/attribute.hpp"

namespace coldtrace::ntfs {

// The role of a cluster's byte in the stream to which the cluster belongs.
enum class StreamPart : u8 {
  content,
  not_valid,   // inside the stream, after what was written: reads as zeros
  slack,       // after the end of the stream
  compressed,  // in a compressed stream: only its contents show which byte this is
  unknown,     // the start of the stream, which contains its size, is lost
};
[[nodiscard]] std::string_view to_string(StreamPart part);

// By the sizes of the stream.
[[nodiscard]] StreamPart part_at(bool compressed, u64 size, u64 valid, u64 position);

// A file that has a cluster.
struct PlaceOwner {
  FileReference file;
  State state = State::live;  // live, detached, unnamed or deleted: no index is read
  bool directory = false;
  bool system = false;  // of the file system itself
  std::string path;     // of its first name, as exact text; empty without one
  u32 links = 0;
  AttributeType type = AttributeType::end;
  std::string stream;  // its name, as exact text
  StreamPart part = StreamPart::unknown;
  std::optional<u64> position;  // of the byte in the stream; nothing for compressed ones
  std::optional<u64> size;      // of the stream
};

// The role of a $MFT byte in its FILE record.
enum class RecordPart : u8 {
  header,
  attribute,  // its head
  value,      // of a resident attribute
  fixup,      // replaces a byte that the record stores elsewhere
  unused,     // after the end of what the record uses
  damaged,    // the record cannot be read
  never_used,
  unknown,  // if a snapshot is used: it does not contain the bytes of records
};
[[nodiscard]] std::string_view to_string(RecordPart part);

// The $MFT record that contains a byte.
struct RecordPlace {
  u64 record = 0;
  u32 at = 0;  // byte of the record
  RecordPart part = RecordPart::never_used;
  std::optional<PlaceOwner> owner;  // the file of the record; its stream is that of the attribute
};

// The kind of a byte of a volume.
enum class Holds : u8 {
  file,       // a byte of a file's stream
  slack,      // after the end of one
  index,      // of a directory
  metadata,   // of a file, outside its record
  mft,        // $MFT's records
  journal,    // $UsnJrnl:$J
  log,        // $LogFile
  system,     // another file of the file system
  deleted,    // only of deleted files
  free,       // no owner, and free according to $Bitmap
  unclaimed,  // no owner, but in use according to $Bitmap
  unknown,    // no owner, and $Bitmap cannot be read
};
[[nodiscard]] std::string_view to_string(Holds holds);

// The owner of the byte at an offset of a volume.
struct Place {
  u64 offset = 0;  // of the image
  u64 cluster = 0;
  Holds holds = Holds::unknown;
  std::optional<bool> allocated;   // according to $Bitmap
  std::vector<PlaceOwner> owners;  // those in use first
  bool more_owners = false;
  std::optional<RecordPlace> record;  // of $MFT
};

// According to its owners, its record and $Bitmap.
[[nodiscard]] Holds holds_of(const Place& place);

}  // namespace coldtrace::ntfs
