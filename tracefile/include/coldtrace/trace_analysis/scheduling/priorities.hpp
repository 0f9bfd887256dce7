#pragma once

#include <array>

#include "coldtrace/trace_analysis/scheduling/turns.hpp"

namespace coldtrace::trace_analysis {

// Why the priority of a thread changed.
enum class PriorityCause : u8 {
  not_told,
  unwait,      // raised when its wait ended
  boost,       // raised when it was made ready
  auto_boost,  // raised because it owns a lock that others wait for
  starvation,  // raised because it was ready for too long
  decay,       // inferred: it falls to what it was raised from, or to a priority above that
  set,         // SetPriority
  base_set,    // SetBasePriority, which moves it
  count,       // of these
};
[[nodiscard]] std::string_view to_string(PriorityCause cause);

// The priority of a thread changed.
struct PriorityStep {
  enum class Shown : u8 { switch_in, switch_out, set };

  Index thread;
  Index by;  // who set it, or made it ready
  i8 before, now;
  Shown shown_by;
  PriorityCause cause;
  std::optional<i8> increment;  // stated by the event `told`
  std::optional<i8> base;       // as far as known by then
  i64 before_at;                // the time of the event that shows `before`
  Moment shown;                 // the event that shows `now`
  std::optional<Moment> told;   // the event that says when, and why

  [[nodiscard]] i64 time() const { return told ? told->time : shown.time; }
};
[[nodiscard]] std::string_view to_string(PriorityStep::Shown shown);

// The priorities of a thread, in ticks. The times of its levels, `changing` and `unknown` add up to
// the time from the first to the last event that shows a priority.
struct ThreadPriorities {
  struct Level {
    i8 priority;
    i64 time = 0;
    bool operator==(const Level&) const = default;
  };
  struct CauseSum {
    u64 events = 0;      // that state a boost, or set the priority
    i64 increments = 0;  // stated by these
    u64 steps = 0;
    u64 levels = 0;  // by how much the priority changed in these
  };

  std::optional<i64> first, last;  // events that show a priority
  std::optional<i8> first_priority, last_priority;
  std::vector<Level> levels;  // by priority
  i64 changing = 0;           // between two events that show different ones, if nothing tells when
  i64 unknown = 0;            // where events may be missing
  u64 steps = 0;
  std::array<CauseSum, static_cast<std::size_t>(PriorityCause::count)> causes;
  std::optional<i8> base;  // the last one that was seen
  u32 bases = 0;           // a bit for each that was seen
};

// Priorities over time. They are seen at switches and when they are set: if two consecutive events
// show the same priority, it holds between them, unless events may be missing there. Memory grows
// with threads, and with the steps that are kept. Source: Microsoft Learn "CSwitch", "ReadyThread",
// "ThreadPriority".
class Priorities final : public Analysis {
 public:
  using Sink = std::function<void(const PriorityStep&)>;
  static constexpr std::size_t most_steps = std::size_t{1} << 16;
  static constexpr std::size_t most_pending = 256;
  static constexpr i8 most_priority = 31;

  // `each_step` gets every step once the thread's turn in which it shows is over; it may be empty.
  explicit Priorities(Sink each_step = {});
  Priorities(const Priorities&) = delete;
  Priorities& operator=(const Priorities&) = delete;

  [[nodiscard]] const Turns& turns() const { return turns_; }
  [[nodiscard]] const std::vector<ThreadPriorities>& threads() const {
    return threads_;
  }  // by index
  // The first ones, in order of time.
  [[nodiscard]] const std::vector<PriorityStep>& steps() const { return steps_; }
  [[nodiscard]] u64 more_steps() const { return more_steps_; }
  // Changes by events, beyond those that are kept between two switches of their thread: its
  // priority is unknown from the first of these on.
  [[nodiscard]] u64 changes_left_out() const { return changes_left_out_; }
  [[nodiscard]] u64 impossible() const {
    return impossible_;
  }  // priorities that no thread can have

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override;
  void on_priority_change(const PriorityChange& record) override;
  void on_thread(const ThreadRecord& record) override;
  void finish(const Observed& observed) override;

 private:
  // Turns are reported at their end: what came meanwhile.
  struct Pending {
    enum class What : u8 {
      change,
      turn,         // begins
      not_followed  // a stay on a processor that nobody saw begin, or changes that are left out
    };
    What what;
    PriorityChange change;  // of the others, only its moment
  };
  // What is known of a thread between two events that show its priority.
  struct Follow {
    std::optional<i8> priority;
    i64 shown = 0;
    bool broken = false;            // events are missing since
    std::optional<i8> unboosted;    // what it was raised from
    std::optional<Index> based_by;  // its base was set since, by
    bool starved = false;
    std::vector<Pending> pending;
    std::size_t changes = 0;  // of these
  };
  struct Sight {
    Moment moment;
    PriorityStep::Shown by;
    i8 priority;
    bool known;        // the thread was followed since the last one
    const Turn* turn;  // that begins with it or after it, null if none does
  };
  struct Reason {
    PriorityCause cause = PriorityCause::not_told;
    std::optional<Moment> told;
    std::optional<i8> increment;
    Index by = nobody;
  };

  Follow& follow(Index thread);
  void ended(const Turn& turn);
  bool apply_pending(Index thread, const Turn* next);
  void apply(const PriorityChange& change, const Turn* next);
  void lose(Index thread, const Moment& since);
  void see(Index thread, const Sight& sight);
  static Reason explain(const Follow& follow, std::optional<i8> base, const Sight& sight);
  void add_step(const PriorityStep& step);
  void see_base(Index thread, i8 base);
  bool is_possible(std::optional<i8> priority);

  Turns turns_;
  Sink each_step_;
  const Observed* observed_ = nullptr;
  std::vector<Follow> follows_;
  std::vector<ThreadPriorities> threads_;
  std::vector<PriorityStep> steps_;
  u64 more_steps_ = 0, changes_left_out_ = 0, impossible_ = 0;
};

}  // namespace coldtrace::trace_analysis
