// Writes traces with a known schedule for tests/cli/trace.py.

#include <string>

#include "fixtures/builders/etl_file.hpp"

namespace {

using namespace coldtrace;
using fixtures::ByteWriter;
using fixtures::EtlBuffer;

constexpr auto provider = *core::parse_guid("12345678-9abc-def0-1234-56789abcdef0");

ByteWriter words(std::initializer_list<u64> values) {
  ByteWriter out;
  for (const auto value : values) out.write_u32(value);
  return out;
}

ByteWriter pointers(std::initializer_list<u64> values) {
  ByteWriter out;
  for (const auto value : values) out.write_u64(value);
  return out;
}

ByteWriter text(u64 key, std::string_view name) {
  return pointers({key}).write_bytes(fixtures::utf16z(name).view());
}

// Everything that the kernel logs of a thread at work, on two processors.
EtlBuffer busy(u16 cpu, i64 time, unsigned pointer_size = 8) {
  EtlBuffer buffer{cpu, pointer_size};
  const fixtures::EventIds ids{11, 22, time};
  ByteWriter dpc;
  dpc.write_u64(static_cast<u64>(time - 5));
  ByteWriter isr = dpc;
  if (pointer_size == 8) {
    dpc.write_u64(0xfffff80000000010);
    isr.write_u64(0xfffff80000000020);
  } else {
    dpc.write_u32(0x80000010);
    isr.write_u32(0x80000020);
  }
  isr.write_u8(1).write_u16(0x91).write_u8(0);
  buffer.perfinfo(0x0524, 4, time, fixtures::context_switch(11, 0))
      .perfinfo(0x0532, 2, time + 1, words({12, 0}))
      .perfinfo(0x0f33, 2, time + 2,
                pointer_size == 8 ? pointers({0xfffff80000000030}) : words({0x80000030}), {1, 2})
      .perfinfo(0x0f34, 2, time + 3, words({0xc0000034}))
      .perfinfo(0x0f44, 2, time + 4, dpc)
      .perfinfo(0x0f43, 2, time + 5, isr)
      .compact(0x1a21, 2, ids, words({1}))
      .system(0x1a23, 2, ids, words({1}))
      .full(provider, 1, 0, ids, words({1}))
      .instance(provider, 2, ids, 3, 4, words({2}))
      .event(
          provider, 5, 0, ids, words({3}),
          {{1, std::vector<std::byte>(16, std::byte{1})},
           {2,
            {std::byte{1}, std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},
             std::byte{0}, std::byte{5}, std::byte{18}, std::byte{0}, std::byte{0}, std::byte{0}}},
           {6, std::vector<std::byte>(24, std::byte{2})},
           {99, std::vector<std::byte>(3, std::byte{3})}})
      .message(provider, 6, ids, words({4}))
      .error(words({5}));
  return buffer;
}

std::vector<EtlBuffer> late_names() {
  constexpr u64 file = 0xffff900000001000;
  constexpr u64 key = 0xffff900000002000;
  constexpr u64 stack = 0xffff900000003000;
  const fixtures::EventIds ids{11, 22, 1'000'100};
  EtlBuffer events{0};
  ByteWriter read;
  read.write_u64(0).write_u64(1).write_u64(2).write_u64(file).write_u32(11).write_u32(512);
  events.system(0x0443, 3, ids, read.write_u32(0).write_u32(0));
  ByteWriter query;
  query.write_u64(1'000'090).write_u32(0).write_u32(0).write_u64(key);
  events.system(0x0910, 2, ids, query.write_bytes(fixtures::utf16z("Value").view()));
  ByteWriter sample;
  sample.write_u64(0x7ff000000123).write_u32(11).write_u16(1).write_u16(0);
  events.system(0x0f2e, 2, ids, sample);
  ByteWriter used;
  used.write_u64(1'000'100).write_u32(22).write_u32(11).write_u64(stack);
  events.system(0x1826, 2, ids, used);
  EtlBuffer rundown{1};
  const fixtures::EventIds end{1, 4, 1'900'000};
  ByteWriter image;
  image.write_u64(0x7ff000000000).write_u64(0x10000).write_u32(22).write_zeros(12);
  image.write_u64(0x7ff000000000).write_zeros(16);
  ByteWriter registry;
  registry.write_u64(0).write_u32(0).write_u32(0).write_u64(key);
  rundown.system(0x0304, 4, end, fixtures::process_payload(22, "late.exe"))
      .system(0x0424, 2, end, text(file, "\\Device\\late.txt"))
      .system(0x0919, 2, end,
              registry.write_bytes(fixtures::utf16z("\\REGISTRY\\MACHINE\\Key").view()))
      .system(0x1404, 3, end, image.write_bytes(fixtures::utf16z("\\Windows\\image.dll").view()))
      .system(0x1824, 2, end, pointers({stack, 0x11, 0x22}));
  return {events, rundown};
}

// A TraceLogging event that a hook of NtTraceControl writes, its fields named as the parameters.
EtlBuffer control_call() {
  ByteWriter schema;
  schema.write_u16(0).write_u8(0).write_text("NtTraceControl").write_u8(0);
  const auto field = [&](std::string_view name, u8 type) {
    schema.write_text(name).write_u8(0).write_u8(type);
  };
  field("FunctionCode", 8);
  field("InBuffer", 21);
  field("InBufferLen", 8);
  field("OutBufferLen", 8);
  schema.patch(0, static_cast<u16>(schema.size()));
  const auto call = [](u32 code, u64 input, u32 input_length, u32 output_length) {
    ByteWriter data;
    data.write_u32(code).write_u64(input).write_u32(input_length).write_u32(output_length);
    return data;
  };
  const std::vector<std::byte> item{schema.view().begin(), schema.view().end()};
  return EtlBuffer{0}
      .event(provider, 0, 0, {11, 22, 1'000'100}, call(2, 0x1000, 0x10, 0xb0), {{11, item}})
      .event(provider, 0, 0, {11, 22, 1'000'101}, call(2, 0x1000, 0xb0, 0xb0), {{11, item}});
}

// TraceLogging fields of characters: type, output type, count and bytes of each.
EtlBuffer characters() {
  constexpr u8 wide = 6;
  constexpr u8 narrow = 4;
  constexpr u8 single = 11;
  constexpr u8 floating = 12;
  constexpr u8 string = 2;  // TlgOutSTRING
  ByteWriter schema;
  ByteWriter data;
  schema.write_u16(0).write_u8(0).write_text("Characters").write_u8(0);
  const auto one = [&](std::string_view name, u8 type, std::string_view bytes) {
    schema.write_text(name).write_u8(0).write_u8(type | 0x80U).write_u8(string);
    data.write_text(bytes);
  };
  const auto several = [&](std::string_view name, u8 type, u16 count, std::string_view bytes) {
    one(name, static_cast<u8>(type | 0x20U), bytes);
    schema.write_u16(count);
  };
  using namespace std::string_view_literals;
  several("wide", wide, 7, "\"\0\\\0\x01\0\x28\x20\xac\x20\x3d\xd8\x00\xde"sv);
  several("narrow", narrow, 7, "a\"\\\x1b\xe2\x82\xac");
  one("unit", wide, "\xac\x20");
  one("quote", narrow, "\"");
  one("lone", wide, "\x00\xd8"sv);
  one("byte", narrow, "\x80");
  several("padded", narrow, 6, "ab\0\0\0\0"sv);
  several("stale", narrow, 6, "ab\0xyz"sv);
  one("minus", floating, "\0\0\0\0\0\0\0\x80"sv);
  one("small_minus", single, "\0\0\0\x80"sv);
  schema.patch(0, static_cast<u16>(schema.size()));
  const std::vector<std::byte> item{schema.view().begin(), schema.view().end()};
  return EtlBuffer{0}
      .event(provider, 0, 0, {11, 22, 1'000'100}, data, {{11, item}})
      .system(0x0301, 4, {11, 22, 1'000'101}, fixtures::process_payload(22, "M\xfcller,\".exe"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string{argv[1]} + "/";
  const std::vector<EtlBuffer> both = {busy(0, 1'000'100), busy(1, 1'000'102)};
  fixtures::write_etl(folder + "busy.etl", {}, both);
  fixtures::write_etl(folder + "packed.etl",
                      {.compression = fixtures::EtlCompression::xpress_huffman}, both);
  fixtures::write_etl(folder + "cycles.etl", {.clock_type = 3}, both);
  fixtures::write_etl(folder + "system-time.etl",
                      {.clock_type = 2, .first_timestamp = 133'536'816'000'000'000},
                      {busy(0, 133'536'816'000'000'100)});
  fixtures::write_etl(folder + "narrow.etl", {.pointer_size = 4}, {busy(0, 1'000'100, 4)});
  fixtures::write_etl(folder + "names.etl", {}, late_names());
  fixtures::write_etl(folder + "control.etl", {}, {control_call()});
  fixtures::write_etl(folder + "characters.etl", {}, {characters()});
  ByteWriter garbage;
  EtlBuffer damaged = busy(1, 1'000'300);
  damaged.raw(garbage.write_u64(0x1122334455667788).write_zeros(64));
  fixtures::write_etl(folder + "damaged.etl", {},
                      {busy(0, 1'000'100), busy(0, 1'000'200).flags(2), damaged,
                       busy(1, 1'000'400).flags(4).sequence(9)});
}
