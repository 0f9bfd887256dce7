// Any bytes as the events of packet captures: what becomes of them is a pcapng file whose blocks
// lie one behind the other, with no more bytes than the events and their descriptions justify.

#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>

#include "coldtrace/tracefile/packets/packet_capture.hpp"
#include "coldtrace/tracefile/packets/pcapng_writer.hpp"
#include "coldtrace/tracefile/providers/trace_schemas.hpp"

namespace {

using namespace coldtrace;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Kind {
  std::string_view provider;
  u16 id;
};
constexpr std::string_view ndis = "2ed6006e-4729-4609-b423-3ee7bcd678ef";
constexpr std::string_view pktmon = "4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac";
constexpr Kind kinds[] = {{ndis, 1001}, {ndis, 1002},  {ndis, 1003}, {ndis, 5101},
                          {pktmon, 20}, {pktmon, 30},  {pktmon, 65}, {pktmon, 66},
                          {pktmon, 70}, {pktmon, 160}, {pktmon, 170}};

// An event is a byte that chooses its kind, one for keywords, processor and thread, one for the
// time that passes, one for its size, and the payload.
template <class Take>
void read_events(core::ByteView input, Take take) {
  u64 time = 0;
  while (input.size() >= 4) {
    const auto at = [&](std::size_t i) { return std::to_integer<u8>(input[i]); };
    tracefile::Event event{};
    event.event_class = tracefile::EventClass::manifest;
    const auto& kind = kinds[at(0) % std::size(kinds)];
    event.provider = core::parse_guid(kind.provider).value_or(core::Guid{});
    event.id = kind.id;
    event.pointer_size = (at(1) & 1) != 0 ? 4 : 8;
    event.keywords = u64{at(1) & 6U} << 29 | u64{at(1) & 0x18U} << 29 | u64{at(1) & 0x20U} << 11;
    event.tid = at(1) >> 6;
    event.pid = event.tid;
    event.cpu = static_cast<u16>(at(1) & 1);
    time += u64{at(2)} * at(2) * 1000;
    event.file_time = time;
    event.has_time = true;
    const auto size = std::min<std::size_t>(at(3), input.size() - 4);
    event.payload = input.subspan(4, size);
    input = input.subspan(4 + size);
    take(event);
  }
}

void check_blocks(core::ByteView file) {
  for (std::size_t at = 0; at < file.size();) {
    const auto size = core::load<u32>(file, at + 4);
    require(size && *size >= 12 && *size % 4 == 0 && *size <= file.size() - at);
    require(core::load<u32>(file, at + *size - 4) == size);
    at += *size;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span{data, size});
  static const auto schemas =
      tracefile::TraceSchemas{std::make_shared<tracefile::SchemaTable>(),
                              std::make_shared<tracefile::SchemaTable>(), nullptr}
          .in_order();
  const tracefile::NameTables names{1 << 16};
  const tracefile::Clock clock;
  const tracefile::EventContext context{schemas, names, clock, {}};
  tracefile::PacketInterfaces interfaces;
  tracefile::PacketRecord record;
  tracefile::EventDecoder decoder{schemas};
  read_events(input, [&](const tracefile::Event& event) {
    const auto kind = tracefile::PacketRecord::kind_of(event);
    if (kind && record.read(event, decoder)) interfaces.learn(*kind, record);
  });
  for (const bool every : {false, true}) {
    core::TextBuffer file;
    tracefile::PcapngWriter writer{file};
    writer.add_section("system", "application");
    std::map<tracefile::PacketPlace, u32> numbers;
    u64 packets = 0;
    core::Findings findings;
    const tracefile::PacketCaptureOptions options{every};
    tracefile::PacketCapture capture{
        context, options, findings, [&](const tracefile::CapturedPacket& packet) {
          const auto [known, added] =
              numbers.try_emplace(packet.place, static_cast<u32>(numbers.size()));
          if (added) writer.add_interface(packet.place.link, interfaces.describe(packet.place));
          writer.add_packet(known->second, packet);
          require(packet.original_size >= packet.bytes.size());
          ++packets;
        }};
    read_events(input, [&](const tracefile::Event& event) { capture.add(event); });
    capture.finish();
    require(packets == capture.packets() && packets <= size / 4);
    check_blocks(std::as_bytes(std::span{file.view()}));
  }
  return 0;
}
