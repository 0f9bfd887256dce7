#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/ntfs/row.hpp"

namespace coldtrace::ntfs {

// A stream of a file, and the place of its bytes.
struct StreamValue {
  struct Piece {
    u64 vcn;
    u64 clusters;
    std::optional<Lcn> lcn;  // absent: a hole
    bool operator==(const Piece&) const = default;
  };
  AttributeType type;
  std::vector<u16> name;  // UTF-16
  u16 id;
  bool resident, compressed, encrypted, sparse;
  std::optional<u64> size, allocated, valid;  // bytes
  std::optional<u64> resident_offset;         // of the image
  std::vector<u32> fixups;
  std::vector<Piece> pieces;
  bool operator==(const StreamValue&) const = default;
};

// The data of one name of a file, except where the name was read: its index entry, its record's
// place, findings. Used to tell two views of a volume apart. Owns its data.
struct FileValue {
  std::string path;
  std::vector<u16> name, short_name;  // UTF-16
  FileReference file, parent;
  State state;
  bool directory;
  u32 links;
  std::optional<u32> dos_attributes, security_id;
  std::optional<u64> usn;
  std::optional<Times> information, file_name;  // of $STANDARD_INFORMATION and $FILE_NAME
  std::string owner_sid;
  std::optional<core::Guid> object_id;
  std::optional<u32> reparse_tag;
  std::optional<std::string> reparse_target;
  std::vector<std::pair<std::string, std::size_t>> extended_attributes;  // names and sizes
  std::vector<StreamValue> streams, other_streams;
  bool operator==(const FileValue&) const = default;
};

// From a row with a record.
[[nodiscard]] FileValue to_value(const FileRow& row);

}  // namespace coldtrace::ntfs
