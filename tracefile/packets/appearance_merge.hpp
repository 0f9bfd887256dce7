#pragma once

#include <deque>
#include <functional>
#include <map>
#include <unordered_map>

#include "coldtrace/tracefile/packets/captured_packet.hpp"

namespace coldtrace::tracefile {

// Takes packets in the order of time and gives them on in the order in which each was first seen,
// with what later appearances tell of them: PktMon logs a packet at each component that it passes.
// No event says that a packet has passed the last one: it waits for more until none came for
// `longest_wait`, or too much would be held.
//
// Appearances that are not counted are of one packet if they carry the same in one direction, were
// logged on one processor and none was at the place of another.
class AppearanceMerge {
 public:
  static constexpr u64 longest_wait = 10'000'000;  // in units of 100 ns
  static constexpr std::size_t most_held = 65'536;
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;
  static constexpr u32 most_listed = 1000;       // appearances of one packet
  static constexpr std::size_t most_alike = 16;  // the last packets that carry the same

  using Sink = std::function<void(const CapturedPacket&)>;

  // Where and how a packet was seen once.
  struct Appearance {
    u64 group;
    u16 number;  // in the group
    u16 edge;
    std::string drop;  // why it goes no further; empty: it does
    // Of a Windows that counts no appearances and gives each a group of its own: the processor.
    std::optional<u32> uncounted_on = std::nullopt;
  };

  explicit AppearanceMerge(Sink sink) : sink_{std::move(sink)} {}

  // One that nothing more is told of.
  void add(CapturedPacket packet);
  // One more appearance of a packet; false where it is the first that is known.
  bool add(const Appearance& seen, CapturedPacket packet);
  void finish();

 private:
  using Key = std::pair<u64, u16>;

  struct Held {
    CapturedPacket packet;
    // Of one that more may come of: what it is found by.
    std::optional<Key> key;
    std::optional<u64> content;
    std::vector<std::pair<u32, u16>> places;  // component and edge, of one found by its content
    u64 last = 0;                             // time of its last appearance
    u32 appearances = 0;
    std::string path;   // "84/1 +0, 36/1 +91"
    std::string drops;  // lines
  };

  bool add_counted(const Appearance& seen, CapturedPacket packet);
  bool add_uncounted(const Appearance& seen, CapturedPacket packet);
  Held* find_alike(u64 content, const Appearance& seen, const CapturedPacket& packet);
  void forget_first();
  void hold(Held held);
  void note(Held& held, const Appearance& seen, const CapturedPacket& packet);
  void release(u64 now);
  void give_first();

  Sink sink_;
  std::deque<Held> held_;
  // Numbers of those in held_ since the start.
  std::map<Key, u64> open_;
  std::unordered_map<u64, std::deque<u64>> alike_;  // by content, in their order
  u64 given_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace coldtrace::tracefile
