#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::tracefile {

// What the bytes of a packet start with. Values are those of pcapng.
// Source: https://www.tcpdump.org/linktypes.html
enum class LinkType : u16 {
  ethernet = 1,
  ip = 101,
  wifi = 105,   // IEEE 802.11
  other = 147,  // for private use: what has no link type of its own
};

// As stated by the capture, from the machine's point of view.
enum class PacketDirection : u8 { unknown, inbound, outbound };

// Where packets are seen: a layer above a network interface, a port of a virtual switch, or a
// component of the network stack.
struct PacketPlace {
  enum class Kind : u8 { layer, switch_port, component };
  Kind kind = Kind::layer;
  LinkType link = LinkType::ethernet;
  u32 id = 0;    // LowerIfIndex, or the component's
  u32 port = 0;  // of a virtual switch
  friend auto operator<=>(const PacketPlace&, const PacketPlace&) = default;
};

// A packet as seen in one place.
struct CapturedPacket {
  PacketPlace place;
  std::optional<core::FileTime> time;
  PacketDirection direction = PacketDirection::unknown;
  std::vector<std::byte> bytes;
  u32 original_size = 0;     // at least the size of `bytes`
  std::optional<u64> group;  // the same of all packets that one was made of
  bool dropped = false;
  std::string comment;  // lines of UTF-8, without a final line break
};

}  // namespace coldtrace::tracefile
