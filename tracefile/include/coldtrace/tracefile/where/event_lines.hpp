#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "coldtrace/tracefile/events/event_sequence.hpp"
#include "coldtrace/tracefile/fields/field_value.hpp"
#include "coldtrace/tracefile/names/value_names.hpp"
#include "coldtrace/tracefile/where/where_expression.hpp"

namespace coldtrace::tracefile {

struct EventContext;

// What the lines of events show beyond what a filter reads from events and schemas itself: how a
// call ended, the event inside another one, bytes that no field covers, names of code from files
// beside the trace. Implemented by whoever makes lines. One object per thread.
class EventLineReader {
 public:
  using See = std::function<void(const Subject&)>;

  virtual ~EventLineReader() = default;

  // The event that is asked about from now on, as long as it lives. `attached` is the stack that
  // other events supply for it, or null.
  virtual void set(const Event& event, const AttachedStack* attached) = 0;

  // Each value that the event's line has at a path of members, through arrays, in order. False if
  // the line has no such member, or null. What is seen is valid until the next event.
  virtual bool each(std::span<const std::string> path, const See& see) = 0;

  // What files beside the trace call a frame of a stack, or the value of a field; nothing if they
  // do not know it.
  virtual std::optional<std::string> name_frame(std::optional<u32> pid, u64 address, i64 time) = 0;
  virtual std::optional<std::string> name_value(const Value& value, const NameScope& scope) = 0;

 protected:
  EventLineReader() = default;
  EventLineReader(const EventLineReader&) = default;
  EventLineReader& operator=(const EventLineReader&) = default;
};

// Makes readers of the lines that events have in the output, one for each thread.
class EventLines {
 public:
  virtual ~EventLines() = default;

  // For the lines of events in this context. What the context refers to must outlive it.
  [[nodiscard]] virtual std::unique_ptr<EventLineReader> open(
      const EventContext& context) const = 0;

 protected:
  EventLines() = default;
  EventLines(const EventLines&) = default;
  EventLines& operator=(const EventLines&) = default;
};

}  // namespace coldtrace::tracefile
