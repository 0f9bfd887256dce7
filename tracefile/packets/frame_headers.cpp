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

constexpr u32 ipv4 = 0x0800, ipv6 = 0x86dd;  // EtherTypes

// Where the type of an Ethernet frame stands, behind VLAN tags.
std::size_t ethernet_type_offset(ByteView frame) {
  constexpr u32 vlan = 0x8100, service_vlan = 0x88a8;
  std::size_t type_at = 12;
  for (auto type = big_u16(frame, type_at); type == vlan || type == service_vlan;
       type = big_u16(frame, type_at))
    type_at += 4;
  return type_at;
}

// Where the IP header of an Ethernet frame is; 0 where it has none.
std::size_t ip_offset(ByteView frame) {
  const auto type_at = ethernet_type_offset(frame);
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

// Source: IEEE 802.11-2016, 9.2.4.1 (frame control), 9.2.4.5 (QoS), 9.3.2.2 (A-MSDU).
struct DataFrame {
  std::size_t body;  // where it begins; in an aggregate behind the header of the first subframe
  bool is_aggregate;
};

std::optional<DataFrame> read_data_frame(ByteView frame) {
  constexpr u32 data_type = 2;
  const auto control = byte_at(frame, 0);
  const auto flags = byte_at(frame, 1);
  if ((control >> 2 & 3) != data_type) return std::nullopt;
  DataFrame read{24, false};
  if ((flags & 3) == 3) read.body += 6;  // four addresses
  if ((control & 0x80) != 0) {
    read.is_aggregate = (byte_at(frame, read.body) & 0x80) != 0;
    read.body += 2;
    if ((flags & 0x80) != 0) read.body += 4;  // HT control
  }
  if (read.is_aggregate) read.body += 14;
  return read;
}

bool starts_with_snap(ByteView frame, const DataFrame& data) {
  return big_u16(frame, data.body) == 0xaaaa && byte_at(frame, data.body + 2) == 3;
}

// Where the IP header of a frame of IEEE 802.11 is, behind LLC and SNAP (RFC 1042); 0 where it has
// none, or several packets: those of an aggregate are of several connections.
std::size_t wifi_ip_offset(ByteView frame) {
  constexpr u32 fragment_number = 0x0f;
  const auto data = read_data_frame(frame);
  if (!data || data->is_aggregate || !starts_with_snap(frame, *data)) return 0;
  if ((byte_at(frame, 22) & fragment_number) != 0) return 0;
  const bool is_rfc1042 =
      byte_at(frame, data->body + 3) == 0 && big_u16(frame, data->body + 4) == 0;
  const auto type = big_u16(frame, data->body + 6);
  const auto header = data->body + 8;
  return !is_rfc1042 || (type != ipv4 && type != ipv6) || frame.size() <= header ? 0 : header;
}

// What the IP header carries, and where that begins.
struct Carried {
  u32 protocol;
  std::size_t at;
};

// Behind extension headers; nothing of fragments behind the first, and where they are cut off.
// Source: RFC 8200, 4; RFC 4302, 2.2 (authentication counts words of four bytes); RFC 7045, 4.
std::optional<Carried> find_ipv6_payload(ByteView packet) {
  constexpr u32 hop_by_hop = 0, routing = 43, fragment = 44, authentication = 51, options = 60,
                mobility = 135, host_identity = 139, shim6 = 140, fragment_offset = 0xfff8;
  Carried carried{byte_at(packet, 6), 40};
  while (carried.at + 8 <= packet.size()) {
    const auto length = byte_at(packet, carried.at + 1);
    std::size_t size = (std::size_t{length} + 1) * 8;
    switch (carried.protocol) {
      case hop_by_hop:
      case routing:
      case options:
      case mobility:
      case host_identity:
      case shim6:
        break;
      case authentication:
        size = (std::size_t{length} + 2) * 4;
        break;
      case fragment:
        if ((big_u16(packet, carried.at + 2) & fragment_offset) != 0) return std::nullopt;
        size = 8;
        break;
      default:
        return carried;
    }
    carried = {byte_at(packet, carried.at), carried.at + size};
  }
  return carried;
}

std::optional<Carried> find_ipv4_payload(ByteView packet) {
  constexpr u32 fragment_offset = 0x1fff;
  if ((big_u16(packet, 6) & fragment_offset) != 0) return std::nullopt;
  return Carried{byte_at(packet, 9), std::size_t{byte_at(packet, 0) & 15U} * 4};
}

ConnectionEnd end_of(ByteView address, u32 port) {
  ConnectionEnd end;
  std::ranges::copy(address, end.address.begin());
  end.port = static_cast<u16>(port);
  return end;
}

// Where the EtherType of a frame stands.
std::optional<std::size_t> type_offset(LinkType link, ByteView frame) {
  constexpr u32 least_type = 0x600;  // less is a length. Source: IEEE 802.3, 3.2.6
  if (link == LinkType::ethernet) {
    const auto at = ethernet_type_offset(frame);
    return big_u16(frame, at) < least_type ? std::nullopt : std::optional{at};
  }
  if (link != LinkType::wifi) return std::nullopt;
  const auto data = read_data_frame(frame);
  if (!data || data->is_aggregate || !starts_with_snap(frame, *data)) return std::nullopt;
  return data->body + 6;
}

}  // namespace

u32 told_length(LinkType link, ByteView frame) {
  if (link == LinkType::ethernet) return ethernet_length(frame);
  return link == LinkType::ip ? ip_length(frame) : 0;
}

// Source: RFC 791, 3.1; RFC 8200, 3; RFC 768 and 9293: both begin with the ports.
std::optional<Connection> find_connection(LinkType link, ByteView frame) {
  constexpr u32 tcp = 6, udp = 17;
  if (link == LinkType::ethernet || link == LinkType::wifi) {
    const auto header = link == LinkType::wifi ? wifi_ip_offset(frame) : ip_offset(frame);
    if (header == 0) return std::nullopt;
    frame = frame.subspan(header);
  } else if (link != LinkType::ip) {
    return std::nullopt;
  }
  const auto version = byte_at(frame, 0) >> 4;
  if (version != 4 && version != 6) return std::nullopt;
  const bool is_ipv6 = version == 6;
  const auto carried = is_ipv6 ? find_ipv6_payload(frame) : find_ipv4_payload(frame);
  if (!carried || (carried->protocol != tcp && carried->protocol != udp)) return std::nullopt;
  const auto ports = carried->at;
  const std::size_t addresses = is_ipv6 ? 8 : 12, size = is_ipv6 ? 16 : 4;
  if (frame.size() < ports + 4 || ports < addresses + 2 * size) return std::nullopt;
  return Connection{static_cast<u8>(carried->protocol), is_ipv6,
                    end_of(frame.subspan(addresses, size), big_u16(frame, ports)),
                    end_of(frame.subspan(addresses + size, size), big_u16(frame, ports + 2))};
}

std::optional<NetworkPacket> find_network_packet(const CapturedPacket& packet) {
  const ByteView frame{packet.bytes};
  NetworkPacket found{byte_at(frame, 0) >> 4 == 6 ? ipv6 : ipv4, frame, packet.original_size};
  if (packet.place.link != LinkType::ip) {
    const auto at = type_offset(packet.place.link, frame);
    if (!at || frame.size() <= *at + 2) return std::nullopt;
    found.type = big_u16(frame, *at);
    found.bytes = frame.subspan(*at + 2);
    found.size -= static_cast<u32>(*at + 2);
  }
  const bool is_ip = found.type == ipv4 || found.type == ipv6;
  if (const auto told = is_ip ? ip_length(found.bytes) : 0; told != 0 && told < found.size) {
    found.size = told;
    found.bytes = found.bytes.first(std::min<std::size_t>(told, found.bytes.size()));
  }
  return found;
}

bool is_decrypted(ByteView frame) {
  constexpr u32 is_protected = 0x40;
  const auto data = read_data_frame(frame);
  return data && (byte_at(frame, 1) & is_protected) != 0 && starts_with_snap(frame, *data);
}

}  // namespace coldtrace::tracefile
