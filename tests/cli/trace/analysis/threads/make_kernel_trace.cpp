// Writes an .etl file of the kernel events on standard input, in the order of time, each a line:
// PROCESSOR TIME HOOK VERSION PAYLOAD, numbers in hexadecimal. A hook is group << 8 | opcode.
//
// usage: make_kernel_trace FILE

#include <iostream>
#include <map>
#include <string>

#include "fixtures/builders/etl_file.hpp"

int main(int argc, char** argv) {
  using namespace coldtrace;
  if (argc != 2) return 2;
  std::map<u16, fixtures::EtlBuffer> buffers;
  std::string payload;
  std::cin >> std::hex;
  u16 cpu = 0, hook = 0, version = 0;
  i64 time = 0;
  while (std::cin >> cpu >> time >> hook >> version >> payload) {
    fixtures::ByteWriter bytes;
    for (std::size_t at = 0; at + 2 <= payload.size(); at += 2)
      bytes.write_u8(std::stoul(payload.substr(at, 2), nullptr, 16));
    buffers.try_emplace(cpu, cpu).first->second.perfinfo(hook, version, time, bytes);
  }
  if (!std::cin.eof()) return 2;
  fixtures::EtlSession session;
  session.buffer_size = 1U << 20U;
  session.processors = buffers.empty() ? 1U : buffers.rbegin()->first + 1U;
  std::vector<fixtures::EtlBuffer> all;
  for (const auto& [number, buffer] : buffers) all.push_back(buffer);
  fixtures::write_etl(argv[1], session, all);
}
