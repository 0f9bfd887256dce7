#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "coldtrace/tracefile/where/event_filter.hpp"
#include "python/values.hpp"

namespace coldtrace::python {

// The index of a member of Event.
std::optional<std::size_t> find_event_member(std::string_view name);

// Turns an event into an Event, or into a tuple of some of its members; what they do not need is
// not decoded. One object for all events of an iterator.
class EventObjects {
 public:
  // `members`: the wanted ones; empty: all, as a record. `messages`: those of all events, not only
  // of WPP messages. The context's references must outlive the object.
  EventObjects(const tracefile::EventContext& context, std::vector<std::size_t> members,
               bool messages);
  ~EventObjects();
  Object make(const tracefile::Event& event);

  // How many events were decoded by another schema than the preferred one, and how many lost a part
  // of their message.
  u64 other_schemas() const;
  u64 cut_messages() const;

 private:
  class Maker;
  std::unique_ptr<Maker> maker_;
};

void add_event_records(py::module_& module);

}  // namespace coldtrace::python
