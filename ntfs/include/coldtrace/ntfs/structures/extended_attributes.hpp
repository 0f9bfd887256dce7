#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::ntfs {

// One extended attribute, as OS/2 programs and WSL ("$LXUID") keep them.
// Source: linux-ntfs documentation, "$EA".
struct ExtendedAttribute {
  std::string_view name;  // ASCII, not checked
  core::ByteView value;
};

// Goes through the list in the value of an $EA attribute.
class ExtendedAttributeReader {
 public:
  explicit ExtendedAttributeReader(core::BorrowedBytes list) : list_{list.get()} {}
  // Nothing at the end and at the first invalid entry.
  std::optional<ExtendedAttribute> next();

 private:
  core::ByteView list_;
};

}  // namespace coldtrace::ntfs
