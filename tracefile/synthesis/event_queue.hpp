#pragma once

#include <functional>
#include <queue>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile::synthesis {

// What will happen, by time; of what happens at the same time, first what was planned first.
class EventQueue {
 public:
  using Action = std::function<void()>;

  u64 now() const { return now_; }

  void at(u64 time, Action action) { plan(time, nullptr, std::move(action)); }
  // Does not happen if `version` has another value by then.
  void at(u64 time, const u64& version, Action action) { plan(time, &version, std::move(action)); }

  // False when nothing is left.
  bool step() {
    while (!events_.empty()) {
      auto event = events_.top();
      events_.pop();
      if (event.version != nullptr && *event.version != event.valid_version) continue;
      now_ = event.time;
      event.action();
      return true;
    }
    return false;
  }

  void pass(u64 ticks) { now_ += ticks; }

 private:
  struct Event {
    u64 time;
    u64 order;
    const u64* version;
    u64 valid_version;
    Action action;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };

  void plan(u64 time, const u64* version, Action action) {
    events_.push({time, planned_++, version, version == nullptr ? 0 : *version, std::move(action)});
  }

  std::priority_queue<Event, std::vector<Event>, Later> events_;
  u64 now_ = 0;
  u64 planned_ = 0;
};

}  // namespace coldtrace::tracefile::synthesis
