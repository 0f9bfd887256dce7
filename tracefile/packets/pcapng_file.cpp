#include "coldtrace/tracefile/packets/pcapng_file.hpp"

namespace coldtrace::tracefile {

PcapngFile::PcapngFile(core::TextBuffer& file, core::Borrowed<PacketInterfaces> interfaces,
                       core::Findings& findings)
    : writer_{file}, interfaces_{interfaces.get()}, findings_{findings} {}

void PcapngFile::start(std::string_view system, std::string_view application) {
  writer_.add_section(system, application);
}

void PcapngFile::add(const CapturedPacket& packet) {
  const auto [known, added] = numbers_.try_emplace(packet.place, static_cast<u32>(numbers_.size()));
  if (added && numbers_.size() > PacketInterfaces::most_places) {
    numbers_.erase(known);
    findings_.warning("packet-interfaces", std::nullopt,
                      "packets of more than {} interfaces are left out",
                      PacketInterfaces::most_places);
    return;
  }
  if (added) writer_.add_interface(packet.place.link, interfaces_.describe(packet.place));
  writer_.add_packet(known->second, packet);
}

}  // namespace coldtrace::tracefile
