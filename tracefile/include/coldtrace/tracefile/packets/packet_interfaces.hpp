#pragma once

#include <map>

#include "coldtrace/tracefile/packets/packet_record.hpp"

namespace coldtrace::tracefile {

// What a place where packets are seen is called.
struct PacketInterface {
  std::string name;
  std::string description;
  std::optional<std::array<std::byte, 6>> mac;
  std::vector<std::array<std::byte, 4>> ipv4;
  std::vector<std::array<std::byte, 16>> ipv6;
};

// Names of places, which a trace states before or after the packets. Bounded: names beyond
// `most_places`, and names longer than `longest_name` bytes, are not kept.
class PacketInterfaces {
 public:
  static constexpr std::size_t most_places = 65'536;
  static constexpr std::size_t longest_name = 1024;
  static constexpr std::size_t most_addresses = 64;  // of one place

  // A record that names something; others change nothing.
  void learn(PacketRecordKind kind, const PacketRecord& record);

  // A place that nothing names is described by its number.
  [[nodiscard]] PacketInterface describe(const PacketPlace& place) const;

 private:
  struct Component {
    std::string name, description, type;
    std::optional<u32> if_index;
    std::optional<std::array<std::byte, 6>> mac;
    std::vector<std::array<std::byte, 4>> ipv4;
    std::vector<std::array<std::byte, 16>> ipv6;
  };
  struct SwitchPort {
    std::string port, nic, type;
  };

  void learn_property(const PacketRecord& record);

  std::map<u32, Component> components_;
  std::map<u32, std::string> layers_;                       // by index of the interface
  std::map<u32, u32> miniports_;                            // of layers
  std::map<std::pair<u32, u32>, SwitchPort> switch_ports_;  // by layer and port
};

}  // namespace coldtrace::tracefile
