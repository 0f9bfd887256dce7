#pragma once

#include "coldtrace/tracefile/packets/captured_packet.hpp"
#include "coldtrace/tracefile/packets/connection_owners.hpp"

namespace coldtrace::tracefile {

// How long a packet was by the length of its IP header, behind VLAN tags too; 0 where it has none
// that says so, as that of segments which the adapter is to cut.
u32 told_length(LinkType link, core::ByteView frame);

// The ends of a packet of TCP or UDP, the source as `local`; nothing of other ones, of fragments
// behind the first, and of frames of 802.11 that are encrypted or have several packets.
std::optional<Connection> find_connection(LinkType link, core::ByteView frame);

// What a frame carries, without what the medium puts before it and pads it with.
struct NetworkPacket {
  u32 type;  // EtherType
  core::ByteView bytes;
  u32 size;  // on the medium: more than `bytes` where those were cut off
};
// Nothing of frames that have no EtherType, are encrypted or carry several packets.
std::optional<NetworkPacket> find_network_packet(const CapturedPacket& packet);

// Whether a data frame of IEEE 802.11 has its Protected bit set over a payload in clear: one that
// starts with the LLC header of SNAP, AA AA 03. NDIS gives frames after decryption with their
// header as it was.
bool is_decrypted(core::ByteView frame);

}  // namespace coldtrace::tracefile
