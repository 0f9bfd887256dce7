#pragma once

#include <optional>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/structures/attribute.hpp"
#include "coldtrace/ntfs/structures/reference.hpp"

namespace coldtrace::ntfs {

// The place of one attribute of a file with several FILE records. Source: linux-ntfs documentation,
// "$ATTRIBUTE_LIST".
struct AttributeListEntry {
  AttributeType type;
  core::ByteView name;  // UTF-16
  u64 lowest_vcn;
  FileReference record;
  u16 id;
};

// Windows limits the list to this many bytes.
constexpr u64 largest_attribute_list = u64{256} * 1024;

// The entries in stored order. An invalid entry is skipped and counted if its length still leads to
// the next one; otherwise the list ends there.
class AttributeListReader {
 public:
  AttributeListReader(core::BorrowedBytes list, u64 offset) : list_{list.get()}, base_{offset} {}

  // Nothing behind the last one, or behind the place where the list ends.
  std::optional<AttributeListEntry> next();
  // The first entry that could not be used.
  [[nodiscard]] const std::optional<core::ParseError>& damage() const { return damage_; }

 private:
  core::ByteView list_;
  u64 base_;
  u64 at_ = 0;
  std::optional<core::ParseError> damage_;
};

}  // namespace coldtrace::ntfs
