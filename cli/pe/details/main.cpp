// Reads a PE image on standard input and writes what OpenSSL makes of its signatures and LIEF of
// its tables on standard output, as one JSON object. The arguments are offset and size of each
// signature. Started by "coldtrace pe info --details", which limits memory and time and believes
// nothing of the answer before it has checked it.

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/pe/details/details.hpp"

namespace {

std::vector<std::uint8_t> read_all(std::FILE* file) {
  std::vector<std::uint8_t> bytes;
  std::uint8_t block[1 << 16];
  while (const auto count = std::fread(block, 1, sizeof block, file))
    bytes.insert(bytes.end(), block, block + count);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<coldtrace::pe_details::CertificatePlace> certificates;
    for (int i = 1; i + 1 < argc; i += 2)
      certificates.push_back({std::stoull(argv[i]), std::stoull(argv[i + 1])});
    const auto json = coldtrace::pe_details::describe(read_all(stdin), certificates);
    const bool written = std::fwrite(json.data(), 1, json.size(), stdout) == json.size();
    return written && std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const std::exception&) {
    return 3;
  }
}
