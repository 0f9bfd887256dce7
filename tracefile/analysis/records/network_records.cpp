#include "tracefile/analysis/records/record_reader.hpp"

namespace coldtrace::trace_analysis {
namespace {

using tracefile::Event;

// Source: tdi.h, minor functions of internal device control requests that move bytes.
constexpr u8 tdi_send = 7;
constexpr u8 tdi_receive = 8;
constexpr u8 tdi_send_datagram = 9;
constexpr u8 tdi_receive_datagram = 10;

}  // namespace

// The destination of a TCP event is the remote end, whichever way the bytes go; that of a UDP event
// is the packet's. Observed on traces of Windows 8: both ends of an event of System at port 445 are
// the same for what is sent and received, and a multicast address is the destination of both.
bool RecordReader::network_transfer(const Event& event, RecordKind kind) {
  const auto pid = values_.get<u32>(Field::process);
  const auto bytes = values_.get<u64>(Field::bytes);
  if (!pid || !bytes) return false;
  const bool is_udp = kind == RecordKind::udp_sent || kind == RecordKind::udp_received;
  const bool from_source = kind == RecordKind::udp_received;
  NetworkTransfer record{};
  record.moment = moment_of(event);
  record.process = *pid == unknown_id ? nobody : population_.process(*pid);
  record.protocol = is_udp ? Protocol::udp : Protocol::tcp;
  record.is_sent = kind != RecordKind::tcp_received && kind != RecordKind::udp_received;
  record.is_repeated = kind == RecordKind::tcp_sent_again;
  record.bytes = *bytes;
  record.remote = values_.text(from_source ? Field::local : Field::remote);
  record.port = values_.get<u16>(from_source ? Field::local_port : Field::remote_port);
  for (auto* const analysis : analyses_) analysis->on_network_transfer(record);
  return true;
}

bool RecordReader::network_start(const Event& event) {
  const auto irp = values_.get<u64>(Field::irp);
  const auto function = values_.get<u8>(Field::major_function);
  if (!irp || !function) return false;
  const bool is_datagram = *function == tdi_send_datagram || *function == tdi_receive_datagram;
  const bool is_sent = *function == tdi_send || *function == tdi_send_datagram;
  const auto pid = values_.get<u32>(Field::process);
  NetworkStart record{};
  record.moment = moment_of(event);
  record.irp = *irp;
  record.process = !pid || *pid == unknown_id ? nobody : population_.process(*pid);
  record.protocol = is_datagram ? Protocol::udp : Protocol::tcp;
  record.moves_bytes = is_sent || is_datagram || *function == tdi_receive;
  record.is_sent = is_sent;
  record.remote = values_.text(Field::remote);
  for (auto* const analysis : analyses_) analysis->on_network_start(record);
  return true;
}

bool RecordReader::network_end(const Event& event) {
  const auto irp = values_.get<u64>(Field::irp);
  const auto bytes = values_.get<u64>(Field::bytes);
  if (!irp || !bytes) return false;
  const NetworkEnd record{moment_of(event), *irp, *bytes};
  for (auto* const analysis : analyses_) analysis->on_network_end(record);
  return true;
}

}  // namespace coldtrace::trace_analysis
