#pragma once

#include <memory>

#include "coldtrace/core/crc32c.hpp"
#include "coldtrace/core/integers.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace {

using Bytes = std::vector<std::byte>;

inline Bytes encode(std::span<const syscall_map::HookTable> builds,
                    const syscall_map::HookTableEncoding& encoding = {}) {
  auto bytes = syscall_map::encode_hook_tables(builds, encoding);
  INFO((bytes ? std::string{} : core::to_string(bytes.error())));
  REQUIRE(bytes);
  return std::move(*bytes);
}

inline void put_u32(Bytes& table, std::size_t offset, u32 value) {
  for (std::size_t i = 0; i < 4; ++i)
    table[offset + i] = static_cast<std::byte>(value >> 8 * i & 0xff);
}

// Makes the CRC of a bent table right again, as an attacker would.
inline void mend_crc(Bytes& table) {
  put_u32(table, 16, 0);
  put_u32(table, 16, core::crc32c(table));
}

// Exactly the table's size, so that AddressSanitizer sees every read outside it.
class ExactCopy {
 public:
  explicit ExactCopy(core::ByteView bytes)
      : memory_{new std::byte[bytes.size()]}, size_{bytes.size()} {
    std::copy(bytes.begin(), bytes.end(), memory_.get());
  }
  core::ByteView view() const { return {memory_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_;
};

// Where the entry of a section stands in the section table.
inline std::size_t entry_of(const Bytes& table, std::string_view tag) {
  for (std::size_t entry = 32;; entry += 20) {
    REQUIRE(entry + 20 <= table.size());
    const auto found = core::slice(table, entry, 4);
    if (std::equal(found->begin(), found->end(), tag.begin(),
                   [](std::byte a, char b) { return a == static_cast<std::byte>(b); }))
      return entry;
  }
}

inline u32 u32_at(const Bytes& table, std::size_t offset) {
  return core::load<u32>(table, offset).value();
}

}  // namespace coldtrace
