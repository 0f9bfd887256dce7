#pragma once

#include <string>

#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/tracefile/packets/captured_packet.hpp"
#include "coldtrace/tracefile/packets/packet_interfaces.hpp"

namespace coldtrace::tracefile {

// Appends blocks of a pcapng file, little-endian, with times in units of 100 ns.
// Source: draft-ietf-opsawg-pcapng.
class PcapngWriter {
 public:
  explicit PcapngWriter(core::TextBuffer& file) : file_{file} {}

  // The first block of a file.
  void add_section(std::string_view system, std::string_view application);
  // Interfaces are numbered 0, 1, 2, ... in order; each comes before its packets.
  void add_interface(LinkType link, const PacketInterface& described);
  void add_packet(u32 interface, const CapturedPacket& packet);

 private:
  void add_block(u32 type);

  core::TextBuffer& file_;
  std::string body_;  // of the block
};

}  // namespace coldtrace::tracefile
