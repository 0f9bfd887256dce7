// Writes the seeds of corpus/trace_control anew: make_trace_control_seeds CORPUS

#include <filesystem>
#include <fstream>

#include "fixtures/builders/byte_writer.hpp"

namespace {

using coldtrace::u64;
using coldtrace::fixtures::ByteWriter;

// The choices of the fuzz target: versions by index, 10.0 being 4.
ByteWriter seed(u64 code, u64 version, u64 flags, u64 output_length) {
  ByteWriter out;
  return out.write_u8(code).write_u8(version).write_u8(flags).write_u8(output_length / 2);
}

ByteWriter& add_filters(ByteWriter& out) {
  out.write_u16(5).write_u8(1).write_zeros(5).write_u64(1).write_u32(0x20).write_u32(0x28);
  out.write_zeros(0x10);
  return out.write_u16(6).write_u8(1).write_zeros(5).write_u64(2).write_u32(0x18).write_u32(0);
}

ByteWriter& add_enable(ByteWriter& out, u64 following) {
  const auto start = out.size();
  return out.write_u32(3).pad_to(start + 0x70).write_u32(1).write_u32(following);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto folder = std::filesystem::path{argv[1]} / "trace_control";
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const ByteWriter& bytes) {
    std::ofstream{folder / name, std::ios::binary} << bytes.string();
  };
  constexpr u64 windows_7 = 1;
  constexpr u64 windows_10 = 4;
  constexpr u64 output_known = 4;
  auto logger = seed(1, windows_10, output_known, 0xb0);
  logger.write_u32(0xb0).pad_to(4 + 0x2c).write_u32(0x00020000).pad_to(4 + 0xb0);
  write("logger", logger);
  write("connect-6.1", seed(0x0b, windows_7, output_known, 0x50).write_zeros(0x50));
  write("connect-10.0", seed(0x0b, windows_10, output_known, 0x60).write_zeros(0x60));
  write("scenario", seed(0x0d, windows_10, output_known, 0).write_zeros(0x30));
  write("registration", seed(0x0f, windows_10, output_known, 0xa0)
                            .write_u32(0x54849625)
                            .write_u16(0x5478)
                            .write_u16(0x4994)
                            .write_u64(0x0dc328033b3ebaa5)
                            .write_zeros(0x90));
  auto old = seed(0x11, windows_7, output_known, 0x48);
  write("enable-6.1", add_filters(add_enable(old, 0x80000000)));
  auto recent = seed(0x11, windows_10, output_known, 0x48);
  add_enable(recent, 1).write_u64(0x88).write_u32(0x40).write_u32(0x80000000);
  write("enable-10.0", add_filters(recent));
  auto reply = seed(0x0f, windows_10, 1, 0);
  reply.write_zeros(0x28);
  add_enable(reply, 1).write_u64(0x88).write_u32(0x40).write_u32(0x80000000);
  write("registered-10.0", add_filters(reply));
  write("disallow",
        seed(0x1c, windows_10, output_known, 0).write_u32(0).write_u32(2).write_zeros(0x20));
  write("descriptor-type", seed(0x1f, windows_10, output_known, 0).write_u64(4).write_u8(2));
}
