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

// Whether a data frame of IEEE 802.11 has its Protected bit set over a payload in clear: one that
// starts with the LLC header of SNAP, AA AA 03. NDIS gives frames after decryption with their
// header as it was.
bool is_decrypted(core::ByteView frame);

}  // namespace coldtrace::tracefile
