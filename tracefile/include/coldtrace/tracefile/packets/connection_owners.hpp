#pragma once

#include <array>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/packets/captured_packet.hpp"
#include "coldtrace/tracefile/where/event_filter.hpp"

namespace coldtrace::tracefile {

// An end of a connection; IPv4 addresses are the first four bytes.
struct ConnectionEnd {
  std::array<std::byte, 16> address{};
  u16 port = 0;
  friend auto operator<=>(const ConnectionEnd&, const ConnectionEnd&) = default;
};

// Two ends that talk to each other.
struct Connection {
  u8 protocol = 0;  // of IP: 6 is TCP, 17 UDP
  bool ipv6 = false;
  ConnectionEnd local, remote;
  friend auto operator<=>(const Connection&, const Connection&) = default;
};

// Which process a connection belonged to, according to the kernel's events of TCP and UDP (TcpIp,
// UdpIp, and Microsoft-Windows-Kernel-Network if its schema is known). Memory is bounded.
class ConnectionOwners {
 public:
  static constexpr std::size_t most = 65'536;  // changes of owners

  struct Owner {
    u32 pid;
    std::string process;  // empty: not known
    friend bool operator==(const Owner&, const Owner&) = default;
  };

  // Any event may be given.
  void add(const Event& event, const EventContext& context, EventDecoder& decoder);

  // That of the last event of the connection up to `time`, otherwise of the first one after it.
  [[nodiscard]] std::optional<Owner> find(const Connection& connection, core::FileTime time) const;

  // Reports what there was no room for.
  void report(core::Findings& findings) const;

 private:
  struct Span {
    core::FileTime from;
    Owner owner;
  };
  std::map<Connection, std::vector<Span>> spans_;
  std::size_t count_ = 0;
  u64 left_out_ = 0;
};

}  // namespace coldtrace::tracefile
