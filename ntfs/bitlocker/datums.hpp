#pragma once

#include "coldtrace/core/reader.hpp"

namespace coldtrace::ntfs {

// The unit of BitLocker's metadata and key files: a size, a role, a type and flags, 16 bits each,
// then what the type has; some contain datums themselves.
struct Datum {
  static constexpr u64 head_size = 8;

  enum class Role : u16 {
    property = 0,
    master_key = 2,
    volume_key = 3,
    startup_key = 6,
    description = 7,
    header = 15,
  };
  enum class Type : u16 {
    key = 1,
    text = 2,
    stretched_key = 3,
    encrypted_key = 5,
    master_key = 8,
    external_key = 9,
    range = 15,
  };

  Role role;
  Type type;
  core::ByteView bytes;  // without the head
};

// Passes each datum of `bytes` to `take`; ends at one that does not fit.
template <class Take>
void for_each_datum(core::ByteView bytes, const Take& take) {
  while (const auto head = core::Fields<Datum::head_size>::at(bytes, 0)) {
    const u64 size = head->template get<u16, 0>();
    if (size < Datum::head_size || size > bytes.size()) return;
    take(Datum{static_cast<Datum::Role>(head->template get<u16, 2>()),
               static_cast<Datum::Type>(head->template get<u16, 4>()),
               bytes.subspan(Datum::head_size, size - Datum::head_size)});
    bytes = bytes.subspan(size);
  }
}

// The first datum of a type; empty if there is none.
inline core::ByteView find_datum(core::ByteView bytes, Datum::Type type) {
  core::ByteView found;
  for_each_datum(bytes, [&](const Datum& datum) {
    if (datum.type == type && found.empty()) found = datum.bytes;
  });
  return found;
}

}  // namespace coldtrace::ntfs
