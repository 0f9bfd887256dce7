#include "cli/privacy/key_file.hpp"

#include <algorithm>
#include <optional>
#include <string>

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

// Nothing if the file has more bytes.
std::optional<std::vector<std::byte>> read_up_to(const std::string& path, std::size_t most) {
  auto bytes = core::read_whole_file(readable_path(path), most);
  if (bytes) return std::move(*bytes);
  if (bytes.error().fault == core::Fault::limit) return std::nullopt;
  throw Failure{fmt::format("{}: {}", core::printable(path), to_message(bytes.error()))};
}

}  // namespace

std::vector<std::byte> read_key_file(const std::string& path) {
  auto key = read_up_to(path, longest_key);
  if (!key || key->size() < shortest_key)
    throw Failure{fmt::format("{}: a key has {} to {} bytes; 'head -c 32 /dev/urandom' makes one",
                              core::printable(path), shortest_key, longest_key)};
  return std::move(*key);
}

privacy::SealingKey read_sealing_key(const std::string& path) {
  privacy::SealingKey key;
  const auto bytes = read_up_to(path, key.size());
  if (!bytes || bytes->size() != key.size())
    throw Failure{fmt::format("{}: an AES-256 key has 32 bytes, but the file has {}",
                              core::printable(path),
                              bytes ? std::to_string(bytes->size()) : "more")};
  std::ranges::copy(*bytes, key.begin());
  return key;
}

}  // namespace coldtrace::cli
