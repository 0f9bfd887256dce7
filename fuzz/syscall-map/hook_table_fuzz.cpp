// Any bytes: the C reader stays inside them, with the CRC as it is and with the CRC made right.
// What the C++ decoder accepts the C reader opens, and it survives encoding and decoding unchanged.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "coldtrace/core/crc32c.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_decoder.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_differences.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "fixtures/builders/read_hook_table.hpp"

namespace {

using namespace coldtrace;

void check(core::ByteView bytes) {
  const auto walked = fixtures::read_hook_table(bytes);
  const auto tables = syscall_map::decode_hook_tables(bytes);
  if (!tables) return;
  if (walked == 0) __builtin_trap();
  const auto again = syscall_map::encode_hook_tables(*tables);
  if (!again) __builtin_trap();
  const auto same = syscall_map::decode_hook_tables(*again);
  if (!same || same->size() != tables->size()) __builtin_trap();
  for (std::size_t i = 0; i < tables->size(); ++i)
    if (!syscall_map::compare_all((*tables)[i], (*same)[i]).empty()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(std::as_bytes(std::span{data, size}));
  // No fuzzer guesses a CRC, and an attacker need not: the size and the CRC are put right.
  constexpr std::size_t header = 32;
  if (size < header) return 0;
  const std::unique_ptr<std::byte[]> mended{new std::byte[size]};
  const std::span bytes{mended.get(), size};
  std::copy_n(std::as_bytes(std::span{data, size}).begin(), size, bytes.begin());
  const auto put = [&](std::size_t offset, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) bytes[offset + i] = static_cast<std::byte>(value >> 8 * i);
  };
  put(12, static_cast<std::uint32_t>(size));
  put(16, 0);
  put(16, core::crc32c(bytes));
  check(bytes);
  return 0;
}
