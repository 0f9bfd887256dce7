#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/ntfs/row.hpp"
#include "coldtrace/ntfs/structures/attribute.hpp"

namespace coldtrace::ntfs {

// What a byte of a cluster is to the stream that the cluster belongs to.
enum class StreamPart : u8 {
  content,
  not_valid,   // inside the stream and behind what was written: reads as zeros
  slack,       // behind the end of the stream
  compressed,  // of a compressed stream: which byte of it this is shows its contents alone
  unknown,     // the start of the stream, which has its size, is lost
};
[[nodiscard]] std::string_view to_string(StreamPart part);

// By the sizes of the stream.
[[nodiscard]] StreamPart part_at(bool compressed, u64 size, u64 valid, u64 position);

// A file that has a cluster.
struct PlaceOwner {
  FileReference file;
  State state = State::live;  // live, detached, unnamed or deleted: no index is asked
  bool directory = false;
  bool system = false;  // of the file system itself
  std::string path;     // of its first name; empty without one
  u32 links = 0;
  AttributeType type = AttributeType::end;
  std::string stream;  // its name
  StreamPart part = StreamPart::unknown;
  std::optional<u64> position;  // of the byte in the stream; nothing of compressed ones
  std::optional<u64> size;      // of the stream
};

// What a byte of $MFT is to its FILE record.
enum class RecordPart : u8 {
  header,
  attribute,  // its head
  value,      // of a resident attribute
  fixup,      // stands in place of a byte that the record keeps elsewhere
  unused,     // behind the end of what the record uses
  damaged,    // the record cannot be read
  never_used,
  unknown,  // where a snapshot is asked: it has no bytes of records
};
[[nodiscard]] std::string_view to_string(RecordPart part);

// What a byte of $MFT is part of.
struct RecordPlace {
  u64 record = 0;
  u32 at = 0;  // byte of the record
  RecordPart part = RecordPart::never_used;
  std::optional<PlaceOwner> owner;  // the file of the record; its stream is that of the attribute
};

// What a byte of a volume is.
enum class Holds : u8 {
  file,       // a byte of a file's stream
  slack,      // behind the end of one
  index,      // of a directory
  metadata,   // of a file, outside its record
  mft,        // $MFT's records
  journal,    // $UsnJrnl:$J
  log,        // $LogFile
  system,     // another file of the file system
  deleted,    // of deleted files alone
  free,       // nobody's, and $Bitmap says so
  unclaimed,  // nobody's, and $Bitmap says that it is somebody's
  unknown,    // nobody's, and $Bitmap cannot be read
};
[[nodiscard]] std::string_view to_string(Holds holds);

// Whose the byte at an offset of a volume is.
struct Place {
  u64 offset = 0;  // of the image
  u64 cluster = 0;
  Holds holds = Holds::unknown;
  std::optional<bool> allocated;   // as $Bitmap has it
  std::vector<PlaceOwner> owners;  // those in use first
  bool more_owners = false;
  std::optional<RecordPlace> record;  // of $MFT
};

// By its owners, its record and what $Bitmap says.
[[nodiscard]] Holds holds_of(const Place& place);

}  // namespace coldtrace::ntfs
