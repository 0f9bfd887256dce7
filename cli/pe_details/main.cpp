// Reads a PE image on standard input and writes what LIEF makes of it on standard output, as one
// JSON object. Started by "coldtrace pe info --details", which limits memory and time and believes
// nothing of the answer before it has checked it.

#include <cstdio>
#include <exception>

#include "cli/pe_details/details.hpp"

namespace {

std::vector<std::uint8_t> read_all(std::FILE* file) {
  std::vector<std::uint8_t> bytes;
  std::uint8_t block[1 << 16];
  while (const auto count = std::fread(block, 1, sizeof block, file))
    bytes.insert(bytes.end(), block, block + count);
  return bytes;
}

}  // namespace

int main() {
  try {
    const auto json = coldtrace::pe_details::describe(read_all(stdin));
    const bool written = std::fwrite(json.data(), 1, json.size(), stdout) == json.size();
    return written && std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const std::exception&) {
    return 3;  // LIEF refused the image
  }
}
