#pragma once

#include <map>
#include <tuple>

#include "coldtrace/tracefile/packets/captured_packet.hpp"

namespace coldtrace::tracefile {

// Makes packets of the fragments that Windows before 8.1 logs one by one. Those of one packet come
// in order, from one thread, at one place; those of other places or threads may lie between.
class FragmentJoin {
 public:
  static constexpr std::size_t longest_packet = 262'144;  // that Wireshark reads
  static constexpr std::size_t most_open = 4096;

  // Who logs at a place: several processors can run their idle threads, of id 0, at once.
  struct Source {
    PacketPlace place;
    PacketDirection direction;
    std::optional<u32> tid;
    std::optional<u16> cpu;  // of the idle threads
    auto order() const { return std::tie(place, direction, tid, cpu); }
    bool operator<(const Source& other) const { return order() < other.order(); }
  };

  struct Begun {
    CapturedPacket packet;
    u64 offset;  // of the buffer of its first fragment
  };

  // What was begun there and not ended; a new packet begins instead.
  std::optional<Begun> begin(const Source& source, CapturedPacket packet, u64 offset);
  // The packet so far; null where none was begun.
  CapturedPacket* find(const Source& source);
  // The packet, which its last fragment has come to.
  CapturedPacket end(const Source& source);

  // What never ended, and is not waited for any more.
  std::vector<Begun> give_up();

  bool full() const { return open_.size() >= most_open; }

 private:
  std::map<Source, Begun> open_;
};

}  // namespace coldtrace::tracefile
