#include "cli/privacy/key_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/command/report.hpp"
#include "cli/command/standard_input.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::size_t shortest_key = 16;
constexpr std::size_t longest_key = 4096;

}  // namespace

std::vector<std::byte> read_key_file(const std::string& path) {
  auto key = core::read_whole_file(readable_path(path), longest_key);
  const bool too_long = !key && key.error().fault == core::Fault::limit;
  if (!key && !too_long)
    throw Failure{fmt::format("{}: {}", core::printable(path), to_message(key.error()))};
  if (too_long || key->size() < shortest_key)
    throw Failure{fmt::format("{}: a key has {} to {} bytes; 'head -c 32 /dev/urandom' makes one",
                              core::printable(path), shortest_key, longest_key)};
  return std::move(*key);
}

privacy::SealingKey read_sealing_key(const std::string& path) {
  const auto bytes = read_key_file(path);
  privacy::SealingKey key;
  if (bytes.size() != key.size())
    throw Failure{fmt::format("{}: an AES-256 key has 32 bytes, but the file has {}",
                              core::printable(path), bytes.size())};
  std::ranges::copy(bytes, key.begin());
  return key;
}

}  // namespace coldtrace::cli
