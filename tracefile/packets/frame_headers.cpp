#include "tracefile/packets/frame_headers.hpp"

#include <algorithm>

namespace coldtrace::tracefile {
namespace {

using core::ByteView;

u32 byte_at(ByteView bytes, std::size_t at) {
  return at < bytes.size() ? std::to_integer<u32>(bytes[at]) : 0;
}

u32 big_u16(ByteView bytes, std::size_t at) {
  return byte_at(bytes, at) << 8 | byte_at(bytes, at + 1);
}

// Source: RFC 791, 3.1; RFC 8200, 3.
u32 ip_length(ByteView packet) {
  constexpr std::size_t ipv4_header = 20, ipv6_header = 40;
  const auto version = byte_at(packet, 0) >> 4;
  if (version == 4 && packet.size() >= ipv4_header) return big_u16(packet, 2);
  if (version == 6 && packet.size() >= ipv6_header) {
    const auto payload = big_u16(packet, 4);
    return payload == 0 ? 0 : payload + static_cast<u32>(ipv6_header);
  }
  return 0;
}

// Where the IP header of an Ethernet frame is; 0 where it has none.
std::size_t ip_offset(ByteView frame) {
  constexpr u32 ipv4 = 0x0800, ipv6 = 0x86dd, vlan = 0x8100, service_vlan = 0x88a8;
  std::size_t type_at = 12;
  for (auto type = big_u16(frame, type_at); type == vlan || type == service_vlan;
       type = big_u16(frame, type_at))
    type_at += 4;
  const auto type = big_u16(frame, type_at);
  const auto header = type_at + 2;
  return (type != ipv4 && type != ipv6) || frame.size() <= header ? 0 : header;
}

u32 ethernet_length(ByteView frame) {
  const auto header = ip_offset(frame);
  if (header == 0) return 0;
  const auto length = ip_length(frame.subspan(header));
  return length == 0 ? 0 : length + static_cast<u32>(header);
}

ConnectionEnd end_of(ByteView address, u32 port) {
  ConnectionEnd end;
  std::ranges::copy(address, end.address.begin());
  end.port = static_cast<u16>(port);
  return end;
}

}  // namespace

u32 told_length(LinkType link, ByteView frame) {
  if (link == LinkType::ethernet) return ethernet_length(frame);
  return link == LinkType::ip ? ip_length(frame) : 0;
}

// Source: RFC 791, 3.1; RFC 8200, 3; RFC 768 and 9293: both begin with the ports.
std::optional<Connection> find_connection(LinkType link, ByteView frame) {
  constexpr u32 tcp = 6, udp = 17, fragment_offset = 0x1fff;
  if (link == LinkType::ethernet) {
    const auto header = ip_offset(frame);
    if (header == 0) return std::nullopt;
    frame = frame.subspan(header);
  } else if (link != LinkType::ip) {
    return std::nullopt;
  }
  const bool ipv6 = byte_at(frame, 0) >> 4 == 6;
  if (!ipv6 && (byte_at(frame, 0) >> 4 != 4 || (big_u16(frame, 6) & fragment_offset) != 0))
    return std::nullopt;
  const auto protocol = byte_at(frame, ipv6 ? 6 : 9);
  const std::size_t addresses = ipv6 ? 8 : 12, size = ipv6 ? 16 : 4;
  const std::size_t ports = ipv6 ? 40 : std::size_t{byte_at(frame, 0) & 15U} * 4;
  if ((protocol != tcp && protocol != udp) || frame.size() < ports + 4 ||
      ports < addresses + 2 * size)
    return std::nullopt;
  return Connection{static_cast<u8>(protocol), ipv6,
                    end_of(frame.subspan(addresses, size), big_u16(frame, ports)),
                    end_of(frame.subspan(addresses + size, size), big_u16(frame, ports + 2))};
}

// Source: IEEE 802.11-2016, 9.2.4.1 (frame control), 9.2.4.5 (QoS), 9.3.2.2 (A-MSDU).
bool is_decrypted(ByteView frame) {
  constexpr u32 data_type = 2;
  const auto control = byte_at(frame, 0);
  const auto flags = byte_at(frame, 1);
  if ((control >> 2 & 3) != data_type || (flags & 0x40) == 0) return false;
  std::size_t header = 24;
  if ((flags & 3) == 3) header += 6;  // four addresses
  bool aggregate = false;
  if ((control & 0x80) != 0) {
    aggregate = (byte_at(frame, header) & 0x80) != 0;
    header += 2;
    if ((flags & 0x80) != 0) header += 4;  // HT control
  }
  if (aggregate) header += 14;
  return big_u16(frame, header) == 0xaaaa && byte_at(frame, header + 2) == 3;
}

}  // namespace coldtrace::tracefile
