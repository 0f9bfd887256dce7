#pragma once

#include <unordered_map>
#include <vector>

#include "coldtrace/trace_analysis/records/losses.hpp"
#include "coldtrace/trace_analysis/waits/open_waits.hpp"

namespace coldtrace::trace_analysis {

// Who ended whose waits, from switches and from the events that make a thread ready. That is all
// that an .etl trace says about waits: it never names the object.
class Wakes {
 public:
  struct Edge {
    Index thread;
    Index waker;  // nobody: an interrupt (a device or a timer), or not known
    bool in_dpc;
    u64 count = 0;
    u64 unknown = 0;   // of these, over stretches in which events are missing
    u64 measured = 0;  // the others
    i64 total = 0;     // their ticks
    i64 longest = 0;
    Moment longest_since;
    std::optional<u8> longest_reason;
  };
  // A thread left its processor to wait, and nothing has made it ready or run since.
  struct Open {
    Moment since;
    std::optional<u8> reason;
  };
  static constexpr std::size_t most_edges = std::size_t{1} << 17;

  // These two, and the end of a thread, must come in order of time.
  void switched(const ContextSwitch& record);
  void readied(const Readied& record, const Losses& losses);
  void ended(Index thread);

  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  // By thread, as far as there are any; nothing for one that does not wait.
  [[nodiscard]] const std::vector<std::optional<Open>>& open() const { return off_; }
  [[nodiscard]] bool any_switch() const { return any_switch_; }
  [[nodiscard]] bool any_ready() const { return any_ready_; }
  [[nodiscard]] u64 unseen() const { return unseen_; }      // waits that nobody was seen to end
  [[nodiscard]] u64 left_out() const { return left_out_; }  // waits of edges beyond the limit

 private:
  struct Key {
    Index thread, waker;
    bool in_dpc;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<u64>{}((u64{key.thread} << 32U | key.waker) ^ (key.in_dpc ? u64{1} : u64{0})
                                                                         << 31U);
    }
  };
  struct Run {
    u16 cpu;
    i64 since;
  };

  std::vector<std::optional<Open>> off_;  // by thread
  std::vector<std::optional<Run>> runs_;  // where each thread runs
  std::unordered_map<Key, u32, Hash> numbers_;
  std::vector<Edge> edges_;
  bool any_switch_ = false, any_ready_ = false;
  u64 unseen_ = 0, left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis
