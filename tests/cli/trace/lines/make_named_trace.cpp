// Writes traces whose values stand for names, for tests/cli/trace_names.py.

#include <string>

#include "fixtures/builders/etl_file.hpp"

namespace {

using namespace coldtrace;
using fixtures::ByteWriter;
using fixtures::EtlBuffer;
using fixtures::EventIds;

constexpr auto provider = *core::parse_guid("12345678-9abc-def0-1234-56789abcdef0");
constexpr auto metadata = *core::parse_guid("bbccf6c1-6cd1-48c4-80ff-839482e37671");
constexpr auto win_sat = *core::parse_guid("ed54dff8-c409-4cf6-bf83-05e1e61a09c4");
constexpr auto image_id = *core::parse_guid("b3e675d7-2554-4f18-830b-2762732560de");

ByteWriter pointers(std::initializer_list<u64> values) {
  ByteWriter out;
  for (const auto value : values) out.write_u64(value);
  return out;
}

struct Blob {
  ByteWriter bytes;

  u32 name(std::string_view text) {
    const auto at = bytes.size();
    bytes.write_bytes(fixtures::utf16z(text).view());
    return static_cast<u32>(at);
  }
};

// TRACE_EVENT_INFO of event 5: four fields and a member, which have maps.
ByteWriter event_info() {
  constexpr std::size_t fixed = 112;
  constexpr std::size_t property = 24;
  Blob blob;
  blob.bytes.write_bytes(provider.bytes).write_zeros(16).write_u16(5).pad_to(fixed + 5 * property);
  const auto values = blob.name("Colours");
  const auto bits = blob.name("Switches");
  blob.bytes.patch(52, blob.name("Mapped")).patch(68, blob.name("Paint "));
  blob.bytes.patch(100, u32{5}).patch(104, u32{4});
  const auto field = [&](std::size_t index, u32 flags, std::string_view name, u16 type, u16 members,
                         u32 map, u16 count) {
    const auto at = fixed + index * property;
    blob.bytes.patch(at, flags).patch(at + 4, blob.name(name)).patch(at + 8, type);
    blob.bytes.patch(at + 10, members).patch(at + 12, map).patch(at + 16, count);
  };
  constexpr u16 u8_type = 4;
  constexpr u16 u32_type = 8;
  field(0, 0, "Colour", u32_type, 8, values, 1);
  field(1, 0, "Switches", u32_type, 8, bits, 1);
  field(2, 0, "List", u8_type, 4, values, 3);
  field(3, 1, "Row", 4, 1, 0, 1);
  field(4, 0, "Inner", u8_type, 4, values, 1);
  return blob.bytes;
}

// EVENT_MAP_INFO behind the provider; its offsets count from behind it.
ByteWriter map_info(std::string_view name, u32 flag,
                    const std::vector<std::pair<u32, std::string_view>>& entries) {
  constexpr std::size_t provider_size = 16;
  constexpr std::size_t header = 16;
  Blob blob;
  blob.bytes.write_bytes(provider.bytes).write_zeros(header + entries.size() * 8);
  const auto text = [&](std::string_view one) {
    return static_cast<u32>(blob.name(one) - provider_size);
  };
  blob.bytes.patch(16, text(name)).patch(20, flag);
  blob.bytes.patch(24, static_cast<u32>(entries.size()));
  for (std::size_t i = 0; i < entries.size(); ++i)
    blob.bytes.patch(32 + i * 8, text(entries[i].second)).patch(36 + i * 8, entries[i].first);
  return blob.bytes;
}

std::vector<EtlBuffer> mapped() {
  EtlBuffer events{0};
  const auto paint = [&](i64 time, u32 colour, u32 switches, std::initializer_list<u8> rest) {
    ByteWriter payload;
    payload.write_u32(colour).write_u32(switches);
    for (const auto byte : rest) payload.write_u8(byte);
    events.event(provider, 5, 0, {11, 22, time}, payload);
  };
  paint(1'000'100, 2, 5, {1, 9, 2, 1});
  paint(1'000'101, 7, 0x15, {9, 9, 9, 9});
  paint(1'000'102, 1, 0, {2, 2, 2, 2});
  // The maps come behind the schema, and both behind the events.
  events.full(metadata, 32, 0, {0, 0, 1'000'200}, event_info());
  events.full(metadata, 33, 0, {0, 0, 1'000'201},
              map_info("Colours", 1, {{1, "Red "}, {2, "Green "}}));
  events.full(metadata, 33, 0, {0, 0, 1'000'202},
              map_info("Switches", 2, {{0, "None "}, {1, "One "}, {4, "Four "}}));
  return {events};
}

constexpr u64 key = 0xffff900000003000;
constexpr u64 kernel = 0xfffff80000000000;

ByteWriter reference(i64 time) {
  return pointers({static_cast<u64>(time)}).write_u32(22).write_u32(11).write_u64(key);
}

// One key for three stacks, one after the other, on two processors.
std::vector<EtlBuffer> stacks() {
  EtlBuffer first{0};
  EtlBuffer second{1};
  first.perfinfo(0x1826, 2, 1'000'100, reference(1'000'090));
  second.perfinfo(0x1823, 2, 1'000'200, pointers({key, 0x11, 0x12}));
  first.perfinfo(0x1825, 2, 1'000'300, reference(1'000'290));
  second.perfinfo(0x1823, 2, 1'000'300, pointers({key, kernel + 0x21, kernel + 0x22}));
  first.perfinfo(0x1826, 2, 1'000'400, reference(1'000'390));
  // The definition of this one was lost: what comes is of the kernel.
  second.perfinfo(0x1824, 2, 1'000'500, pointers({key, kernel + 0x31}));
  // And nothing comes behind the last.
  first.perfinfo(0x1825, 2, 1'000'600, reference(1'000'590));
  return {second, first};
}

// A stack of so many frames, and an event that has it.
std::vector<EtlBuffer> deep_stack(u32 frames) {
  EtlBuffer events{0};
  events.perfinfo(0x1825, 2, 1'000'100, reference(1'000'090));
  auto definition = pointers({key});
  for (u32 i = 0; i < frames; ++i) definition.write_u64(kernel + i);
  events.perfinfo(0x1824, 2, 1'000'200, definition);
  return {events};
}

// A stack of 200 frames in an image with a name of so many letters.
std::vector<EtlBuffer> long_name(std::size_t letters) {
  constexpr u64 base = 0x7ff000000000;
  EtlBuffer events{0};
  auto walked = pointers({1'000'100}).write_u32(22).write_u32(11);
  for (u32 i = 0; i < 200; ++i) walked.write_u64(base + i);
  events.perfinfo(0x1820, 2, 1'000'107, walked);
  auto image = pointers({base, 0x10000}).write_u32(22).write_zeros(12).write_u64(base);
  image.write_zeros(16).write_bytes(
      fixtures::utf16z("\\Windows\\" + std::string(letters, 'x')).view());
  events.system(0x1404, 3, {1, 4, 1'900'000}, image);
  return {events};
}

// What is logged without a thread, with the names of threads and images at the end.
std::vector<EtlBuffer> threads() {
  constexpr u64 user_image = 0x7ff000000000;
  EtlBuffer events{0};
  const auto sample = [](u64 address, u32 tid) {
    return pointers({address}).write_u32(tid).write_u32(1);
  };
  events.perfinfo(0x0f2e, 2, 1'000'100, sample(user_image + 0x123, 11));
  events.perfinfo(0x0f2e, 2, 1'000'101, sample(kernel + 0x45, 99));
  events.perfinfo(0x0f2e, 2, 1'000'102, sample(user_image + 0x123, 99));
  events.perfinfo(0x0524, 4, 1'000'103, fixtures::context_switch(12, 11));
  events.perfinfo(0x0f34, 2, 1'000'104, ByteWriter{}.write_u32(0xc0000022));
  ByteWriter disk;
  disk.write_u32(0).write_u32(0x60043).write_u32(512).write_u32(0).write_u64(0).write_u64(0);
  events.perfinfo(0x010a, 3, 1'000'105, disk.write_u64(0).write_u64(0).write_u32(11));
  ByteWriter sent;
  sent.write_u32(22).write_u32(1).write_zeros(12).write_zeros(12).write_u64(0);
  events.perfinfo(0x060a, 2, 1'000'106, sent);
  ByteWriter walked = pointers({1'000'100}).write_u32(22).write_u32(11);
  walked.write_u64(kernel + 0x46).write_u64(user_image + 0x10).write_u64(0x10);
  events.perfinfo(0x1820, 2, 1'000'107, walked);
  EtlBuffer rundown{1};
  const EventIds end{1, 4, 1'900'000};
  const auto image = [](u64 base, u32 pid, std::string_view name) {
    ByteWriter payload = pointers({base, 0x10000}).write_u32(pid).write_zeros(12);
    payload.write_u64(base).write_zeros(16);
    return payload.write_bytes(fixtures::utf16z(name).view());
  };
  rundown.system(0x0304, 4, end, fixtures::process_payload(22, "late.exe"))
      .system(0x0504, 3, end, fixtures::thread_payload(22, 11))
      .system(0x0504, 3, end, fixtures::thread_payload(33, 12))
      .system(0x1404, 3, end, image(user_image, 22, "\\Windows\\user.dll"))
      .system(0x1404, 3, end, image(user_image, 4, "\\Windows\\system.dll"))
      .system(0x1404, 3, end, image(kernel, 0, "\\SystemRoot\\kernel.exe"));
  // Size and what lies behind it, as a 64-bit and as a 32-bit merge writes them.
  const auto info = [](bool wide) {
    ByteWriter payload;
    if (wide)
      payload.write_u64(0x400000).write_u64(0x157000);
    else
      payload.write_u32(0x400000).write_u32(0x157000);
    payload.write_u32(22).write_u32(0x5010ae7a);
    return payload.write_bytes(fixtures::utf16z("ntdll.dll").view());
  };
  rundown.full(image_id, 0, 2, {0xffffffff, 22, 1'900'001}, info(true));
  ByteWriter dbg = pointers({0x400000}).write_u32(22).write_u32(0x1234).write_u32(0x5010ae7a);
  dbg.write_u32(0x157000).write_text("ntdll.dbg").write_u8(0);
  rundown.full(image_id, 34, 2, {0xffffffff, 22, 1'900'002}, dbg);
  rundown.pointers(4).full(image_id, 0, 2, {0xffffffff, 22, 1'900'003}, info(false));
  return {events, rundown};
}

// Events without a schema that hold one text, and others that do not.
std::vector<EtlBuffer> strings() {
  EtlBuffer events{0};
  const auto text = [](std::string_view one) {
    return ByteWriter{}.write_bytes(fixtures::utf16z(one).view());
  };
  events.event(provider, 0, 0, {11, 22, 1'000'100}, text("Hello \"world\""));
  events.event(provider, 0, 0, {11, 22, 1'000'101}, text("Gr\xc3\xbc\xc3\x9f Gott"));
  events.event(provider, 0, 0, {11, 22, 1'000'102}, pointers({0x00007ff612345678}));
  events.event(provider, 0, 0, {11, 22, 1'000'103}, ByteWriter{}.write_u32(65));
  events.event(provider, 0, 1, {11, 22, 1'000'104}, text("of another version"));
  events.message(provider, 6, {11, 22, 1'000'105}, ByteWriter{}.write_u32(4));
  return {events};
}

// 2024-02-29 12:34:56.789 as a SYSTEMTIME, once local and once UTC.
std::vector<EtlBuffer> times() {
  constexpr u8 system_time = 18;
  constexpr u8 has_out_type = 0x80;
  constexpr u8 date_time_utc = 38;
  ByteWriter schema;
  schema.write_u16(0).write_u8(0).write_text("Times").write_u8(0);
  schema.write_text("Local").write_u8(0).write_u8(system_time);
  schema.write_text("Utc").write_u8(0).write_u8(system_time | has_out_type).write_u8(date_time_utc);
  schema.patch(0, static_cast<u16>(schema.size()));
  ByteWriter payload;
  for (int i = 0; i < 2; ++i)
    for (const u64 part : {2024U, 2U, 4U, 29U, 12U, 34U, 56U, 789U}) payload.write_u16(part);
  const std::vector<std::byte> item{schema.view().begin(), schema.view().end()};
  EtlBuffer events{0};
  events.event(provider, 0, 0, {11, 22, 1'000'100}, payload, {{11, item}});
  // A document in one chunk of LZNT1 that is not compressed.
  const auto document = [&](u8 opcode, std::string_view xml) {
    const auto text = fixtures::utf16z(xml);
    ByteWriter packed;
    packed.write_u32(1).write_u32(text.size()).write_u16(0x3000 | (text.size() - 1));
    events.full(win_sat, opcode, 0, {11, 22, 1'000'100 + opcode}, packed.write_bytes(text.view()));
  };
  document(33, "<WinSPR></WinSPR>");
  document(35, "<Metrics></Metrics>");
  document(37, "<SystemConfig></SystemConfig>");
  return {events};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string{argv[1]} + "/";
  fixtures::write_etl(folder + "maps.etl", {}, mapped());
  fixtures::write_etl(folder + "stacks.etl", {}, stacks());
  fixtures::write_etl(folder + "stack-256.etl", {}, deep_stack(256));
  fixtures::write_etl(folder + "stack-257.etl", {}, deep_stack(257));
  fixtures::write_etl(folder + "name-10.etl", {}, long_name(10));
  fixtures::write_etl(folder + "name-1000.etl", {}, long_name(1000));
  fixtures::write_etl(folder + "threads.etl", {}, threads());
  fixtures::write_etl(folder + "strings.etl", {}, strings());
  fixtures::write_etl(folder + "times.etl", {}, times());
}
