#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "coldtrace/trace_analysis/records/analysis.hpp"

namespace coldtrace::trace_analysis {

// Requests and bytes.
struct NetworkSums {
  u64 sends = 0, receives = 0;
  u64 bytes_sent = 0, bytes_received = 0;
  u64 repeats = 0, bytes_repeated = 0;  // sent again; not included in the others

  void add(const NetworkTransfer& record);
  // Half of the bytes moved, which always fits.
  [[nodiscard]] u64 half_moved() const { return bytes_sent / 2 + bytes_received / 2; }
};

// Bytes by process, and by process and remote address. A request moves its bytes when it ends.
class NetworkIo final : public Analysis {
 public:
  struct Peer {
    Index process;
    Protocol protocol;
    std::string address;  // of the remote end; may be empty
    auto operator<=>(const Peer&) const = default;
  };
  // Peers beyond this have no address, and are counted.
  static constexpr std::size_t most_peers = std::size_t{1} << 16;
  static constexpr std::size_t most_open = std::size_t{1} << 16;
  using Sink = std::function<void(const NetworkTransfer&)>;

  // `each` may be empty.
  explicit NetworkIo(Sink each = {}) : each_{std::move(each)} {}

  void on_network_transfer(const NetworkTransfer& record) override;
  void on_network_start(const NetworkStart& record) override;
  void on_network_end(const NetworkEnd& record) override;

  [[nodiscard]] const std::map<Index, NetworkSums>& of_processes() const { return of_processes_; }
  [[nodiscard]] const std::map<Peer, NetworkSums>& of_peers() const { return of_peers_; }
  [[nodiscard]] u64 open() const { return open_.size(); }  // requests that have not ended
  [[nodiscard]] u64 lost_ends() const {
    return lost_ends_;
  }  // requests whose IRP began another one
  [[nodiscard]] u64 lone_ends() const { return lone_ends_; }  // ends of unknown requests
  [[nodiscard]] u64 left_out() const {
    return left_out_;
  }  // transfers and requests beyond the limit

 private:
  struct Open {
    Peer peer;
    bool moves_bytes, is_sent;
  };

  Sink each_;
  std::map<Index, NetworkSums> of_processes_;
  std::map<Peer, NetworkSums> of_peers_;
  std::unordered_map<u64, Open> open_;  // by IRP
  u64 lost_ends_ = 0, lone_ends_ = 0, left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis
