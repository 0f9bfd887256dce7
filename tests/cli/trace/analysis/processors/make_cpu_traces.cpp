// Writes traces of processors at work for trace_cpu.py, which says what they mean.

#include <string>

#include "fixtures/builders/etl_file.hpp"

namespace {

using namespace coldtrace;
using fixtures::ByteWriter;
using fixtures::EtlBuffer;
using fixtures::EtlSession;

constexpr u16 profile_sample = 0x0f2e;
constexpr u16 set_interval = 0x0f48;
constexpr u16 collection_end = 0x0f4a;
constexpr u16 spin_lock_collection = 0x0f4b;
constexpr u16 stack_walk = 0x1820;
constexpr u16 stack_key_create = 0x1822;
constexpr u16 stack_key_kernel = 0x1825;
constexpr u16 process_start = 0x0301;
constexpr u16 thread_start = 0x0501;
constexpr u16 interrupt = 0x0f43;
constexpr u16 deferred_call = 0x0f44;
constexpr u16 image_load = 0x030a;
constexpr u16 image_unload = 0x1402;

constexpr u64 driver = 0xffff'f880'0100'0000;
constexpr u64 driver_size = 0x10000;

ByteWriter sample(u64 address, u32 tid, u16 count = 1, u16 flags = 0x40) {
  ByteWriter out;
  return out.write_u64(address).write_u32(tid).write_u16(count).write_u16(flags);
}

ByteWriter interval(u32 source, u32 now, u32 before) {
  ByteWriter out;
  return out.write_u32(source).write_u32(now).write_u32(before);
}

ByteWriter routine(i64 begin, u64 address) {
  ByteWriter out;
  return out.write_u64(static_cast<u64>(begin)).write_u64(address);
}

ByteWriter image(u64 base, std::string_view name) {
  ByteWriter out;
  out.write_u64(base).write_u64(driver_size).write_u32(0).write_zeros(12);
  out.write_u64(base).write_zeros(16);
  return out.write_bytes(fixtures::utf16z(name).view());
}

ByteWriter walk(i64 time, u32 tid, const std::vector<u64>& frames) {
  ByteWriter out;
  out.write_u64(static_cast<u64>(time)).write_u32(40).write_u32(tid);
  for (const auto frame : frames) out.write_u64(frame);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string{argv[1]} + "/";
  const EtlSession session{.buffer_size = 65536};

  // One address, two drivers one after the other; an ISR inside the second one's DPC.
  fixtures::write_etl(
      folder + "drivers.etl", session,
      {EtlBuffer{0}
           .system(image_load, 2, {8, 4, 1'000'100}, image(driver, "\\old\\first.sys"))
           .perfinfo(deferred_call, 2, 1'000'300, routine(1'000'200, driver + 0x40))
           .system(image_unload, 2, {8, 4, 1'000'400}, image(driver, "\\old\\first.sys"))
           .perfinfo(deferred_call, 2, 1'000'450, routine(1'000'440, driver + 0x40))
           .system(image_load, 2, {8, 4, 1'000'500}, image(driver, "\\new\\second.sys"))
           .perfinfo(interrupt, 2, 1'000'650,
                     routine(1'000'620, driver + 0x80).write_u8(1).write_u16(7).write_u8(0))
           .perfinfo(deferred_call, 2, 1'000'700, routine(1'000'600, driver + 0x40))
           .perfinfo(deferred_call, 2, 1'000'750, routine(1'000'800, driver + 0x40))});

  // Samples of nobody, in low power, in a DPC, in an ISR, in both; the interval changes and is told
  // late, and other events have its name or are of another source.
  fixtures::write_etl(folder + "samples.etl", session,
                      {EtlBuffer{0}
                           .perfinfo(profile_sample, 2, 1'001'000, sample(driver, 0xffff'ffff))
                           .perfinfo(spin_lock_collection, 2, 1'001'100, interval(1, 2, 3))
                           .perfinfo(set_interval, 2, 1'001'150, interval(2, 77, 78))
                           .perfinfo(profile_sample, 2, 1'002'100, sample(driver, 8, 0))
                           .perfinfo(set_interval, 2, 1'002'200, interval(0, 500, 900))
                           .perfinfo(profile_sample, 2, 1'002'500, sample(driver, 8, 1, 0x41))
                           .perfinfo(profile_sample, 2, 1'003'000, sample(driver + 4, 8, 1, 0x42))
                           .perfinfo(profile_sample, 2, 1'003'700, sample(driver + 4, 8, 1, 0x43))
                           .perfinfo(collection_end, 2, 1'003'800, interval(0, 500, 500)),
                       EtlBuffer{1}.perfinfo(profile_sample, 2, 1'002'900, sample(driver, 0))});

  fixtures::write_etl(folder + "no-interval.etl", session,
                      {EtlBuffer{0}
                           .perfinfo(profile_sample, 2, 1'001'000, sample(driver, 8))
                           .perfinfo(profile_sample, 2, 1'002'000, sample(driver, 8))});

  // A buffer of the processor is missing.
  fixtures::write_etl(folder + "gap.etl", session,
                      {EtlBuffer{0}
                           .sequence(1)
                           .perfinfo(set_interval, 2, 1'000'500, interval(0, 1000, 1000))
                           .perfinfo(profile_sample, 2, 1'001'000, sample(driver, 8))
                           .perfinfo(profile_sample, 2, 1'002'000, sample(driver, 8)),
                       EtlBuffer{0}
                           .sequence(3)
                           .perfinfo(profile_sample, 2, 1'009'000, sample(driver, 12))
                           .perfinfo(profile_sample, 2, 1'010'000, sample(driver, 12))});

  // One is missing that can be of either processor.
  fixtures::write_etl(folder + "gap-of-one.etl", session,
                      {EtlBuffer{0}
                           .sequence(1)
                           .perfinfo(set_interval, 2, 1'000'500, interval(0, 1000, 1000))
                           .perfinfo(profile_sample, 2, 1'001'000, sample(driver, 8))
                           .perfinfo(profile_sample, 2, 1'002'000, sample(driver, 8)),
                       EtlBuffer{1}.perfinfo(profile_sample, 2, 1'001'500, sample(driver, 12)),
                       EtlBuffer{0}
                           .sequence(4)
                           .perfinfo(profile_sample, 2, 1'005'000, sample(driver, 8))
                           .perfinfo(profile_sample, 2, 1'006'000, sample(driver, 8)),
                       EtlBuffer{1}.perfinfo(profile_sample, 2, 1'009'500, sample(driver, 12))});

  fixtures::write_etl(
      folder + "cut.etl", session,
      {EtlBuffer{0}.perfinfo(profile_sample, 2, 1'001'000, ByteWriter{}.write_u32(5))});

  // The user's part comes before the kernel's; a part twice; a stack too deep; one of another
  // thread; names that would end a frame or a line.
  std::vector<u64> deep;
  for (u64 i = 0; i < 600; ++i) deep.push_back(0x5000 + i);
  fixtures::write_etl(
      folder + "stacks.etl", session,
      {EtlBuffer{0}
           .system(process_start, 4, {8, 4, 1'000'100},
                   fixtures::process_payload(40, "a;b\nc d.exe"))
           .system(thread_start, 3, {8, 40, 1'000'110}, fixtures::thread_payload(40, 44))
           .perfinfo(set_interval, 2, 1'000'500, interval(0, 1000, 1000))
           .system(image_load, 2, {8, 4, 1'000'600}, image(driver, "\\x;y.sys"))
           .perfinfo(profile_sample, 2, 1'001'000, sample(driver + 1, 44))
           .perfinfo(stack_walk, 2, 1'001'010, walk(1'001'000, 48, {0x1, 0x2}))
           .perfinfo(stack_walk, 2, 1'001'020, walk(1'001'000, 44, {0x2000, 0x1000}))
           .perfinfo(stack_walk, 2, 1'001'030, walk(1'001'000, 44, {driver + 1, driver}))
           .perfinfo(stack_walk, 2, 1'001'040, walk(1'001'000, 44, {driver + 7}))
           .perfinfo(profile_sample, 2, 1'002'000, sample(driver + 2, 44))
           .perfinfo(stack_walk, 2, 1'002'020, walk(1'002'000, 44, {0x2000, 0x1000}))
           .perfinfo(profile_sample, 2, 1'003'000, sample(driver + 3, 44, 1, 0x41))
           .perfinfo(profile_sample, 2, 1'004'000, sample(driver + 3, 44, 1, 0x42))
           .perfinfo(profile_sample, 2, 1'005'000, sample(0x5000, 44))
           .perfinfo(stack_walk, 2, 1'005'020, walk(1'005'000, 44, deep))
           .perfinfo(profile_sample, 2, 1'006'000, sample(driver + 4, 0xffff'ffff))
           .perfinfo(profile_sample, 2, 1'007'000, sample(driver + 5, 0))});

  // More paths than are kept: they differ in their outermost frames.
  std::vector<EtlBuffer> paths;
  for (u64 key = 0; key < 1200; ++key) {
    EtlBuffer buffer{0};
    const auto time = static_cast<i64>(1'001'000 + key * 100);
    ByteWriter frames;
    frames.write_u64(key);
    for (u64 i = 0; i < 250; ++i) frames.write_u64(driver + i);
    frames.write_u64(driver + 0x1000 + key);
    ByteWriter use;
    use.write_u64(static_cast<u64>(time)).write_u32(40).write_u32(44).write_u64(key);
    paths.push_back(buffer.perfinfo(profile_sample, 2, time, sample(driver, 44))
                        .perfinfo(stack_key_kernel, 2, time + 10, use)
                        .perfinfo(stack_key_create + 2, 2, time + 20, frames));
  }
  fixtures::write_etl(folder + "paths.etl", session, paths);

  // More addresses than are kept.
  std::vector<EtlBuffer> many;
  u64 address = 0x10000;
  for (i64 time = 1'001'000; address < 0x10000 + 0x20000 + 2000;) {
    EtlBuffer buffer{0};
    for (int i = 0; i < 1500; ++i, ++time)
      buffer.perfinfo(profile_sample, 2, time, sample(address++, 8));
    many.push_back(std::move(buffer));
  }
  fixtures::write_etl(folder + "functions.etl", session, many);
}
