#include "coldtrace/tracefile/live/live_event.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"
#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

using Bytes = std::vector<std::byte>;

template <class Header, class Payload>
concept reads_event = requires(Header&& header, Payload&& payload) {
  (void)LiveEvent::read(std::forward<Header>(header), std::forward<Payload>(payload));
};
static_assert(reads_event<const Bytes&, core::ByteView>);
static_assert(!reads_event<Bytes, core::ByteView> && !reads_event<core::ByteView, Bytes>);

constexpr auto dotnet_runtime = *core::parse_guid("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
constexpr auto page_fault_class = *core::parse_guid("3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c");
// Source: Windows SDK evntcons.h.
constexpr u16 string_only = 0x04;
constexpr u16 trace_message = 0x08;
constexpr u16 of_32_bits = 0x20;
constexpr u16 of_64_bits = 0x40;
constexpr u16 classic = 0x100;

// EVENT_HEADER by its definition: Size, HeaderType, Flags, EventProperty, ThreadId, ProcessId,
// TimeStamp, ProviderId, EVENT_DESCRIPTOR (Id, Version, Channel, Level, Opcode, Task, Keyword),
// KernelTime, UserTime, ActivityId.
Bytes event_header(const core::Guid& provider, u16 id, u8 version, u8 opcode, u16 flags) {
  fixtures::ByteWriter out;
  out.write_u16(80)
      .write_u16(0)
      .write_u16(flags)
      .write_u16(0)
      .write_u32(1234)
      .write_u32(5678)
      .write_u64(132'000'000'000'000'000);
  out.write_bytes(provider.bytes);
  out.write_u16(id)
      .write_u8(version)
      .write_u8(16)
      .write_u8(4)
      .write_u8(opcode)
      .write_u16(1)
      .write_u64(1)
      .write_u32(0)
      .write_u32(0);
  out.write_zeros(16);
  return out.bytes();
}

SchemaChain built_in() {
  return TraceSchemas{std::make_shared<SchemaTable>(), std::make_shared<SchemaTable>(), nullptr}
      .in_order();
}

std::map<std::string, std::string> texts(const DecodedEvent& event) {
  std::map<std::string, std::string> all;
  for (const auto& field : event.fields) all[field.path] = field.text;
  return all;
}

}  // namespace

TEST_CASE("an event of a callback has names and fields without any file") {
  const auto header = event_header(dotnet_runtime, 1, 1, 1, of_64_bits);
  const auto payload = fixtures::ByteWriter{}
                           .write_u32(7)
                           .write_u32(2)
                           .write_u32(1)
                           .write_u32(0)
                           .write_u16(9)
                           .bytes();
  const auto event = decode_event(header, payload, built_in());
  REQUIRE(event);
  CHECK(event->provider == "Microsoft-Windows-DotNETRuntime");
  CHECK(event->name == "GarbageCollection/Start");
  CHECK(event->undecoded == Undecoded::none);
  CHECK(event->decoded == Decoded::exact);
  CHECK(
      texts(*event) ==
      std::map<std::string, std::string>{
          {"Count", "7"}, {"Depth", "2"}, {"Reason", "1"}, {"Type", "0"}, {"ClrInstanceID", "9"}});
  CHECK(event->fields[2].names == "Induced");
}

TEST_CASE("the header says how long pointers are, and whether the event is a classic one") {
  const auto payload = fixtures::ByteWriter{}.write_u32(0x1000).write_u32(0x2000).bytes();
  const auto narrow = decode_event(event_header(page_fault_class, 0, 2, 10, classic | of_32_bits),
                                   payload, built_in());
  REQUIRE(narrow);
  CHECK(narrow->decoded == Decoded::exact);
  CHECK(texts(*narrow) == std::map<std::string, std::string>{{"VirtualAddress", "0x1000"},
                                                             {"ProgramCounter", "0x2000"}});
  const auto wide = decode_event(event_header(page_fault_class, 0, 2, 10, classic | of_64_bits),
                                 payload, built_in());
  REQUIRE(wide);
  CHECK(wide->decoded == Decoded::partial);
}

TEST_CASE("a schema that an extended item carries is used") {
  // Size, tags, name of the event; name and type of a field: TlgInUINT32.
  const auto schema = fixtures::ByteWriter{}
                          .write_u16(2 + 1 + 6 + 6 + 1)
                          .write_u8(0)
                          .write_text(std::string_view{"Hello\0", 6})
                          .write_text(std::string_view{"Count\0", 6})
                          .write_u8(8)
                          .bytes();
  const std::array items{ExtendedItem{ExtendedType::sid, {}},
                         ExtendedItem{ExtendedType::schema, schema}};
  const auto payload = fixtures::ByteWriter{}.write_u32(41).bytes();
  const auto event =
      decode_event(event_header(some_provider, 0, 0, 0, of_64_bits), payload, built_in(), items);
  REQUIRE(event);
  CHECK(event->name == "Hello");
  CHECK(event->decoded == Decoded::exact);
  CHECK(texts(*event) == std::map<std::string, std::string>{{"Count", "41"}});
}

TEST_CASE("what a callback's event does not tell is said") {
  const auto unknown =
      decode_event(event_header(some_provider, 5, 0, 0, of_64_bits), {}, built_in());
  REQUIRE(unknown);
  CHECK(unknown->undecoded == Undecoded::no_schema);
  CHECK(unknown->decoded == Decoded::raw);
  const auto message =
      decode_event(event_header(some_provider, 5, 0, 0, trace_message), {}, built_in());
  REQUIRE(message);
  CHECK(message->undecoded == Undecoded::message_format);
  const auto text = fixtures::ByteWriter{}.write_u16('H').write_u16('i').write_u16(0).bytes();
  const auto string = decode_event(event_header(some_provider, 0, 0, 0, string_only | of_64_bits),
                                   text, built_in());
  REQUIRE(string);
  REQUIRE(string->fields.size() == 1);
  CHECK(string->fields[0].text == "Hi");
}

TEST_CASE("what is not an event of a callback is refused") {
  auto header = event_header(dotnet_runtime, 1, 1, 1, of_64_bits);
  header.pop_back();
  CHECK_FALSE(decode_event(header, {}, built_in()));
  header.push_back({});
  const Bytes large(0x10000);
  const std::array items{ExtendedItem{ExtendedType::schema, large}};
  CHECK_FALSE(decode_event(header, {}, built_in(), items));
}

TEST_CASE("a payload of a few bytes makes no endless list of fields") {
  // 65,535 empty structures of one member that takes no bytes.
  const auto schema = fixtures::ByteWriter{}
                          .write_u16(2 + 1 + 2 + 2 + 2 + 2 + 2)
                          .write_u8(0)
                          .write_text(std::string_view{"E\0", 2})
                          .write_text(std::string_view{"x\0", 2})
                          .write_u8(0x24)  // a constant count of TlgInUINT8
                          .write_u16(0xffff)
                          .bytes();
  const std::array items{ExtendedItem{ExtendedType::schema, schema}};
  const Bytes payload(0xffff);
  const auto event =
      decode_event(event_header(some_provider, 0, 0, 0, of_64_bits), payload, built_in(), items);
  REQUIRE(event);
  std::size_t text = 0;
  for (const auto& field : event->fields) text += field.path.size() + field.text.size();
  CHECK(text <= 64 * payload.size() + 64);
}

TEST_CASE("events of files are decoded as those of callbacks are") {
  const std::string name = GENERATE(as<std::string>{}, "pv_primitive-types.etl",
                                    "tx_HTTP_Server.etl", "pv_SelfDescribingSingleEvent.etl");
  const auto open = open_sample(name);
  if (!open) return;
  EventDecoder decoder{open->trace->schemas()};
  std::size_t compared = 0;
  for (const auto& held : all_events(*open->trace)) {
    const auto& event = held.event;
    if (event.event_class != EventClass::manifest) continue;
    std::vector<ExtendedItem> items;
    ExtendedItems walk{event};
    while (const auto item = walk.next()) items.push_back(*item);
    const auto live =
        decode_event(event.header.first(80), event.payload, open->trace->schemas(), items);
    REQUIRE(live);
    const auto& kind = decoder.kind_of(event);
    FieldTexts fields{open->trace->clock()};
    const auto result = decoder.decode(event, kind, fields);
    CHECK(live->name == kind.name);
    CHECK(live->provider == kind.provider_name);
    CHECK(live->decoded == result.decoded);
    std::set<std::string> names, live_names;
    for (const auto& [path, text] : fields.fields) names.insert(path.substr(0, path.find('.')));
    for (const auto& field : live->fields)
      live_names.insert(field.path.substr(0, field.path.find_first_of(".[")));
    for (const auto& one : live_names) CHECK(names.contains(one));
    ++compared;
  }
  CHECK(compared > 0);
}

}  // namespace coldtrace::tracefile
