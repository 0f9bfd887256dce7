#pragma once

#include <deque>
#include <functional>
#include <unordered_map>

#include "coldtrace/trace_analysis/scheduling/turns.hpp"

namespace coldtrace::trace_analysis {

// A turn whose begin and end were both seen.
struct Stay {
  Index thread;
  u16 cpu;
  i64 begin, end;
  std::optional<i8> in_priority, out_priority;
  Place place;  // of the switch to it
};

// A thread could run but did not.
struct ReadyStretch {
  Index thread;
  i64 from, to;
  i8 priority;  // that it was pushed off with; if it was made ready, that it came back with
  // Of the two that it left and came back with: it may have had either all the time.
  i8 lowest, highest;
  bool pushed_off;          // else made ready
  Place since;              // of the event that it begins with
  std::vector<Stay> stays;  // of others that overlap it, as far as known
};

// Finds when threads were ready, and what processors did meanwhile. A stretch is reported once the
// turns that overlap it are over (idle ones may go on): turns that break the chain of a processor's
// switches are not included.
class ReadyStretches {
 public:
  using Sink = std::function<void(const ReadyStretch&)>;
  explicit ReadyStretches(Sink sink) : sink_{std::move(sink)} {}

  static constexpr std::size_t most_recent = std::size_t{1} << 16;  // turns that are over
  static constexpr std::size_t most_stays = std::size_t{1} << 12;   // of a stretch
  static constexpr std::size_t most_open = std::size_t{1} << 10;    // stretches that wait for turns
  static constexpr u16 most_processors = 2048;                      // the most that Windows has
  static constexpr u64 most_work = 256;  // turns examined for each that there is

  // A turn that is over, as Turns hands it out.
  void turn(const Turn& turn);
  // To be called after Turns has had it.
  void switched(const ContextSwitch& record, const Population& population);
  void finish(const Turns& turns, const Observed& observed);

  // Those that have switched so far; absent: more than are followed.
  [[nodiscard]] std::optional<std::size_t> processors() const { return processors_; }
  // Stretches reported without all that is known, since they have too many turns.
  [[nodiscard]] u64 left_out() const { return left_out_; }

 private:
  struct Processor {
    bool seen = false;
    bool idle = true;
    i64 turn_begin = 0;         // of the turn that is not over
    std::vector<u64> awaiting;  // stretches, that turn
  };
  struct Open {
    ReadyStretch stretch;
    unsigned awaits = 0;  // turns
  };

  void confirm(const Turn& turn);
  void add(const Turn& next);
  bool has_room(const ReadyStretch& stretch);

  Sink sink_;
  std::vector<Processor> by_cpu_;
  std::optional<std::size_t> processors_ = 0;
  std::deque<Stay> recent_;     // by their ends
  std::vector<Place> left_at_;  // by thread: the end of its last turn
  std::unordered_map<u64, Open> open_;
  u64 next_ = 0, left_out_ = 0, turns_ = 0, looked_at_ = 0;
};

}  // namespace coldtrace::trace_analysis
