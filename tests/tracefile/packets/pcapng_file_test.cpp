#include "coldtrace/tracefile/packets/pcapng_file.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::tracefile;

TEST_CASE("an interface is described once, before the first packet of it") {
  core::TextBuffer text;
  core::Findings findings;
  const PacketInterfaces interfaces;
  PcapngFile file{text, interfaces, findings};
  file.start("Windows", "test");
  const auto type_at = [&](std::size_t at) { return static_cast<u8>(text.view()[at]); };
  const auto section = text.size();
  CapturedPacket packet;
  file.add(packet);
  const auto first = text.size();
  CHECK(type_at(section) == 1);  // Interface Description Block
  file.add(packet);
  CHECK(type_at(first) == 6);  // Enhanced Packet Block
  packet.place.id = 1;
  const auto second = text.size();
  file.add(packet);
  CHECK(type_at(second) == 1);
  CHECK(findings.empty());
}

TEST_CASE("packets of interfaces beyond those that are kept are left out with a warning") {
  core::TextBuffer text;
  core::Findings findings;
  const PacketInterfaces interfaces;
  PcapngFile file{text, interfaces, findings};
  CapturedPacket packet;
  for (std::size_t i = 0; i < PacketInterfaces::most_places; ++i) {
    packet.place.id = static_cast<u32>(i);
    file.add(packet);
    text.clear();
  }
  CHECK(findings.empty());
  packet.place.id = static_cast<u32>(PacketInterfaces::most_places);
  file.add(packet);
  CHECK(text.size() == 0);
  CHECK(findings.count("packet-interfaces") == 1);
  CHECK(findings.has_warnings());
  packet.place.id = 7;  // one that is known
  file.add(packet);
  CHECK(text.size() > 0);
}
