#include "coldtrace/trace_analysis/requests/network_io.hpp"

#include "tracefile/analysis/records/byte_sums.hpp"

namespace coldtrace::trace_analysis {

void NetworkSums::add(const NetworkTransfer& record) {
  if (record.is_repeated) {
    ++repeats;
    add_bytes(bytes_repeated, record.bytes);
  } else if (record.is_sent) {
    ++sends;
    add_bytes(bytes_sent, record.bytes);
  } else {
    ++receives;
    add_bytes(bytes_received, record.bytes);
  }
}

void NetworkIo::on_network_transfer(const NetworkTransfer& record) {
  of_processes_[record.process].add(record);
  Peer peer{record.process, record.protocol, std::string{record.remote}};
  if (of_peers_.size() >= most_peers && of_peers_.count(peer) == 0) {
    ++left_out_;
    peer.address.clear();
  }
  of_peers_[peer].add(record);
  if (each_) each_(record);
}

void NetworkIo::on_network_start(const NetworkStart& record) {
  const auto known = open_.find(record.irp);
  if (known != open_.end()) {
    ++lost_ends_;
    open_.erase(known);
  }
  if (open_.size() == most_open) {
    ++left_out_;
    return;
  }
  open_.emplace(record.irp, Open{{record.process, record.protocol, std::string{record.remote}},
                                 record.moves_bytes,
                                 record.is_sent});
}

void NetworkIo::on_network_end(const NetworkEnd& record) {
  const auto known = open_.find(record.irp);
  if (known == open_.end()) {
    ++lone_ends_;
    return;
  }
  const auto one = std::move(known->second);
  open_.erase(known);
  if (!one.moves_bytes) return;
  on_network_transfer({record.moment, one.peer.process, one.peer.protocol, one.is_sent, false,
                       record.bytes, one.peer.address, std::nullopt});
}

}  // namespace coldtrace::trace_analysis
