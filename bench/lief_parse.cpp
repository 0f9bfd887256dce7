// The peer of bench/compare-pe: parses each file with LIEF and counts its exports.

#include <cstdio>
#include <exception>

#include <LIEF/PE.hpp>

int main(int argc, char** argv) {
  std::size_t exports = 0;
  for (int i = 1; i < argc; ++i) {
    try {
      const auto binary = LIEF::PE::Parser::parse(argv[i]);
      if (binary->has_exports()) exports += binary->get_export().entries().size();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", argv[i], error.what());
    }
  }
  std::printf("%zu exports\n", exports);
}
