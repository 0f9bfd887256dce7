#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/events/event_buffer.hpp"
#include "coldtrace/tracefile/events/gap.hpp"

namespace coldtrace::tracefile {

// A stack that other events supply for an event, innermost frame first.
struct AttachedStack {
  std::vector<u64> frames;
  std::optional<u32> pid;  // the process whose user-mode addresses they are
};

// The events of a trace of any format one after the other, with the gaps at their places.
class EventSequence {
 public:
  enum class Item : u8 { event, gap, end };

  virtual ~EventSequence() = default;

  // Goes on to the next event or gap, which event() or gap() then returns until the next call;
  // `end` from then on.
  virtual Item next() = 0;
  [[nodiscard]] virtual const Event& event() const = 0;
  // Keeps the bytes of the event alive.
  [[nodiscard]] virtual const std::shared_ptr<const Buffer>& buffer() const = 0;
  [[nodiscard]] virtual const Gap& gap() const = 0;

  // The stack of the event, from a sequence that attaches stacks; null: there is none.
  [[nodiscard]] virtual std::shared_ptr<const AttachedStack> stack() const { return nullptr; }

  // Buffers so far that were read when the trace was opened but cannot be read again, or not to
  // their end. Each has a gap.
  [[nodiscard]] virtual u64 unread_buffers() const = 0;

 protected:
  EventSequence() = default;
  EventSequence(const EventSequence&) = default;
  EventSequence& operator=(const EventSequence&) = default;
  EventSequence(EventSequence&&) = default;
  EventSequence& operator=(EventSequence&&) = default;
};

}  // namespace coldtrace::tracefile
