// Writes traces of the scheduler for tests/cli/trace_analysis.py, which says what they mean.

#include <string>

#include "fixtures/builders/etl_file.hpp"

namespace {

using namespace coldtrace;
using fixtures::ByteWriter;
using fixtures::EtlBuffer;

constexpr u16 context_switch = 0x0524;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string{argv[1]} + "/";
  ByteWriter half;
  half.write_u32(11);
  fixtures::write_etl(folder + "cut.etl", {},
                      {EtlBuffer{0}
                           .perfinfo(context_switch, 4, 1'000'100, fixtures::context_switch(11, 0))
                           .perfinfo(context_switch, 4, 1'000'200, half)});
}
