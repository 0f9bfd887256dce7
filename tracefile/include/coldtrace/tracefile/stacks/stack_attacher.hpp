#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/events/event_sequence.hpp"
#include "coldtrace/tracefile/names/stack_table.hpp"
#include "coldtrace/tracefile/providers/extended_data.hpp"

namespace coldtrace::tracefile {

// Hands out the events of a sequence with the stacks that other events supply for them, and those
// others no longer: StackWalk/Stack, StackKeyKernel and StackKeyUser, which state the time and the
// thread of their event, and CLRStackWalk, whose event is the last one before it of its provider on
// its thread. User-mode frames may come much later than the event, when the thread returns to user
// mode, so that every event waits until the limits are reached; a stack that comes after that is an
// event of its own, as is the stack of an event that the sequence does not have.
//
// Sources: Microsoft Learn, StackWalk_Event; observed on real traces, in which every CLRStackWalk
// follows its event like this.
class StackAttacher final : public EventSequence {
 public:
  struct Limits {
    std::size_t events = std::size_t{1} << 15U;  // that wait
    std::size_t bytes = std::size_t{32} << 20U;  // of buffers that they lie in
    std::size_t frames = std::size_t{1} << 20U;  // that they have
  };
  struct Counts {
    u64 attached = 0;    // events that were stacks of other events
    u64 unattached = 0;  // that are handed out as events
    u64 events = 0;      // that have a stack from other events
  };

  // Events later than `last` are left out; their stacks are looked at, so the sequence may go on
  // beyond it. `in_time_order` says whether it is in order of time. All but `last` must outlive the
  // object.
  StackAttacher(std::unique_ptr<EventSequence> events, core::Borrowed<StackTable> stacks,
                std::optional<i64> last, bool in_time_order, const Limits& limits);
  StackAttacher(std::unique_ptr<EventSequence> events, core::Borrowed<StackTable> stacks,
                std::optional<i64> last, bool in_time_order);

  Item next() override;
  [[nodiscard]] const Event& event() const override { return current_.event; }
  [[nodiscard]] const std::shared_ptr<const Buffer>& buffer() const override {
    return current_.buffer;
  }
  [[nodiscard]] const Gap& gap() const override { return current_.gap; }
  [[nodiscard]] u64 unread_buffers() const override { return events_->unread_buffers(); }
  [[nodiscard]] std::shared_ptr<const AttachedStack> stack() const override {
    return current_.stack;
  }

  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  using Number = u64;  // of what was read, from 1 on
  static constexpr Number none = 0;

  struct Key {
    i64 time;
    u32 tid;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return std::hash<u64>{}((static_cast<u64>(key.time) ^ u64{key.tid} << 40U) *
                              0x9e37'79b9'7f4a'7c15U);
    }
  };
  // What was read and not handed out.
  struct Held {
    Item item = Item::end;
    Event event{};
    std::shared_ptr<const Buffer> buffer{};
    Gap gap{};
    std::shared_ptr<AttachedStack> stack{};
    bool has_kernel = false, has_user = false;
    std::optional<Key> key{};
    Number next_of_key = none;
    std::optional<u64> runtime{};  // where of_runtime_ may have it
  };

  bool read();
  void hold_event(const Event& event);
  void hold_gap(const Gap& gap);
  bool attach(const Event& event);
  bool attach_walk(const Event& event);
  bool attach_runtime_stack(const Event& event, std::size_t provider);
  bool add_to_first(const Key& key, const Event& walk, std::optional<u32> pid, bool of_kernel,
                    bool same_processor);
  void add_part(Held& held, std::optional<u32> pid, bool of_kernel);
  void index(Held& held, Number number);
  void release(const Held& held, Number number);
  Held* find(Number number);
  bool is_full() const;

  std::unique_ptr<EventSequence> events_;
  const StackTable& stacks_;
  std::optional<i64> last_;
  bool in_time_order_;
  Limits limits_;
  std::deque<Held> held_;
  Number first_ = 1;  // of held_
  bool ended_ = false;
  std::size_t beyond_ = 0;  // events later than `last`
  Held current_;
  struct Chain {
    Number first, last;
  };
  std::unordered_map<Key, Chain, KeyHash> by_key_;
  std::unordered_map<u64, Number> of_runtime_;              // the last event by provider and thread
  std::unordered_map<const Buffer*, std::size_t> buffers_;  // how many events lie in each
  std::size_t bytes_ = 0;
  std::size_t frames_ = 0;
  EventStack stack_;  // of the event that is looked at
  Counts counts_;
};

// `stack-unattached`: stacks that were handed out as events, once all were.
void note_unattached(const StackAttacher& attacher, core::Findings& findings);

}  // namespace coldtrace::tracefile
