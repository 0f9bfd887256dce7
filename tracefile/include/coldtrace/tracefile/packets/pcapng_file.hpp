#pragma once

#include <map>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/packets/pcapng_writer.hpp"

namespace coldtrace::tracefile {

// A pcapng file: packets and, before the first one of each place, what that place is.
class PcapngFile {
 public:
  // All must outlive the object.
  PcapngFile(core::TextBuffer& file, core::Borrowed<PacketInterfaces> interfaces,
             core::Findings& findings);

  // The section header, with the operating system that was traced and the writing program.
  void start(std::string_view system, std::string_view application);
  // `packet-interfaces`: those of places beyond PacketInterfaces::most_places are left out.
  void add(const CapturedPacket& packet);

 private:
  PcapngWriter writer_;
  const PacketInterfaces& interfaces_;
  core::Findings& findings_;
  std::map<PacketPlace, u32> numbers_;
};

}  // namespace coldtrace::tracefile
