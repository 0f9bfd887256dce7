// Writes traces for trace_top.py into the folder named by the first argument: one without
// events, one without events of the kernel, and one whose names are hostile.

#include <string>

#include "fixtures/builders/etl_file.hpp"

namespace {

using namespace coldtrace;
using fixtures::ByteWriter;
using fixtures::EtlBuffer;

constexpr u16 process_start = 0x0301;
constexpr u16 thread_start = 0x0501;
constexpr u16 context_switch = 0x0524;
constexpr u16 ready_thread = 0x0532;
constexpr u16 file_create = 0x0440;
constexpr u16 operation_end = 0x044c;

// Turns the rest of its line red, and around.
constexpr std::string_view hostile = "a\x1b[31m\xe2\x80\xae\nb\x07.exe";

ByteWriter change(u32 to, u32 from, u8 state) {
  ByteWriter out;
  out.write_u32(to).write_u32(from).write_u8(8).write_u8(8).write_zeros(2);
  return out.write_u8(6).write_u8(0).write_u8(state).write_zeros(9);
}

ByteWriter create(const std::string& path) {
  ByteWriter out;
  out.write_u64(0x1000).write_u64(0x2000).write_u32(44).write_u32(0x60).write_u32(0).write_u32(3);
  return out.write_bytes(fixtures::utf16z(path).view());
}

ByteWriter ended() {
  ByteWriter out;
  return out.write_u64(0x1000).write_u64(0).write_u32(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string{argv[1]} + "/";
  fixtures::write_etl(folder + "empty.etl", {}, {});
  fixtures::write_etl(folder + "other.etl", {},
                      {EtlBuffer{0}.event(*core::parse_guid("01234567-89ab-cdef-0123-456789abcdef"),
                                          7, 0, {8, 4, 1'000'100}, ByteWriter{}.write_u32(5))});
  const auto path = "\\" + std::string(200, 'x') + "\\" + std::string{hostile};
  fixtures::write_etl(
      folder + "hostile.etl", {},
      {EtlBuffer{0}
           .system(process_start, 4, {8, 4, 1'000'100}, fixtures::process_payload(40, hostile))
           .system(thread_start, 3, {8, 4, 1'000'110}, fixtures::thread_payload(40, 44))
           .system(thread_start, 3, {8, 4, 1'000'120}, fixtures::thread_payload(40, 48))
           .perfinfo(context_switch, 4, 1'000'200, change(44, 0, 2))
           .system(file_create, 3, {44, 40, 1'000'250}, create(path))
           .system(operation_end, 3, {44, 40, 1'000'270}, ended())
           .perfinfo(context_switch, 4, 1'000'300, change(48, 44, 5))
           .perfinfo(ready_thread, 2, 1'000'500, ByteWriter{}.write_u32(44).write_zeros(4))
           .perfinfo(context_switch, 4, 1'000'700, change(44, 48, 5))
           .perfinfo(context_switch, 4, 1'000'900, change(0, 44, 5))});
}
