#pragma once

#include <functional>
#include <memory>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/events/event_sequence.hpp"
#include "coldtrace/tracefile/packets/connection_owners.hpp"
#include "coldtrace/tracefile/packets/packet_interfaces.hpp"
#include "coldtrace/tracefile/where/event_filter.hpp"

namespace coldtrace::tracefile {

// Which packets are made.
struct PacketCaptureOptions {
  // A packet of PktMon once for each component that it passes, instead of once.
  bool every_appearance = false;
  // Who owns the packets; null: not known.
  const ConnectionOwners* owners = nullptr;
};

// Makes packets from the events of a capture, in order of time. Memory is bounded. What is odd or
// missing goes to the findings.
class PacketCapture {
 public:
  using Sink = std::function<void(const CapturedPacket&)>;

  // The findings, and what `context` refers to, must outlive the object.
  PacketCapture(const EventContext& context, const PacketCaptureOptions& options,
                core::Findings& findings, Sink sink);
  PacketCapture(const PacketCapture&) = delete;
  PacketCapture& operator=(const PacketCapture&) = delete;
  ~PacketCapture();

  void add(const Event& event);
  // Events are missing here: no packet continues after them.
  void add_gap();
  void finish();

  // Those that were given to the sink.
  [[nodiscard]] u64 packets() const;

 private:
  class Maker;
  std::unique_ptr<Maker> maker_;
};

// `no-match`: a capture that made no packet.
void note_no_packets(const PacketCapture& capture, core::Findings& findings);

// What must be known about a trace before its packets are made.
struct PacketSurroundings {
  PacketInterfaces interfaces;  // the names of their places
  ConnectionOwners owners;
};
// One reading of the trace, in the order of time.
PacketSurroundings find_packet_surroundings(const EventContext& context, EventSequence& events);

}  // namespace coldtrace::tracefile
