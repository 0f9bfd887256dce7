// The events of traces.

#include <memory>

#include <pybind11/stl.h>

#include "coldtrace/tracefile/selection/event_context.hpp"
#include "python/event_objects.hpp"
#include "python/trace.hpp"

namespace coldtrace::python {
namespace {

using tracefile::Event;

tracefile::EventContext context_of(const Trace& trace) {
  auto context = tracefile::event_context_of(trace.trace, trace.schemas);
  context.parameters = trace.parameters.get();
  return context;
}

// Returns the events of a trace, in lists of some hundred.
class EventChunks {
 public:
  static constexpr std::size_t chunk_size = 512;

  EventChunks(std::shared_ptr<Trace> trace, std::unique_ptr<tracefile::WhereExpression> where,
              std::vector<std::size_t> members, bool messages)
      : trace_{std::move(trace)},
        where_{std::move(where)},
        stream_{trace_->trace.stream({})},
        objects_{context_of(*trace_), std::move(members), messages} {
    if (where_) filter_.emplace(context_of(*trace_), *where_);
  }

  py::list next() {
    const OneAtATime turn{busy_};
    {
      const WithoutLock unlocked;
      read();
    }
    tell_trace();
    if (events_.empty()) throw py::stop_iteration{};
    auto list = py::reinterpret_steal<py::list>(
        checked(PyList_New(static_cast<Py_ssize_t>(events_.size()))));
    Py_ssize_t at = 0;
    for (const auto& held : events_) PyList_SET_ITEM(list.ptr(), at++, objects_.make(held.event));
    return list;
  }

 private:
  // An event, and what keeps its bytes alive.
  struct Held {
    Event event;
    std::shared_ptr<const tracefile::Buffer> buffer;
  };

  void read() {
    using Item = tracefile::EventSequence::Item;
    events_.clear();
    while (!ended_ && events_.size() < chunk_size) {
      const auto item = stream_->next();
      if (item == Item::end) {
        ended_ = true;
        return;
      }
      if (item == Item::gap) continue;  // in the findings of the trace
      const auto& event = stream_->event();
      if (!filter_ || filter_->wants(event)) events_.push_back({event, stream_->buffer()});
    }
  }

  // Each pass through a trace has the same findings.
  void tell_trace() {
    trace_->unread_buffers = std::max(trace_->unread_buffers, stream_->unread_buffers());
    trace_->other_schemas = std::max(trace_->other_schemas, objects_.other_schemas());
    trace_->cut_messages = std::max(trace_->cut_messages, objects_.cut_messages());
    if (ended_ && filter_ && !std::exchange(told_, true)) tell_unmatched();
  }

  // Reports what the expression names and no event has, once all were seen.
  void tell_unmatched() {
    core::NoMatch unmatched;
    filter_->report(unmatched, "where");
    trace_->unmatched.merge_unknown(unmatched);
  }

  std::shared_ptr<Trace> trace_;
  std::unique_ptr<tracefile::WhereExpression> where_;
  std::unique_ptr<tracefile::EventSequence> stream_;
  std::optional<tracefile::EventFilter> filter_;
  EventObjects objects_;
  std::vector<Held> events_;
  bool ended_ = false;
  bool told_ = false;
  bool busy_ = false;
};

py::object events_of(const std::shared_ptr<Trace>& trace, const std::optional<Text>& where,
                     const std::vector<Text>& field_names, bool messages) {
  std::vector<std::size_t> members;
  for (const auto& [name] : field_names) {
    const auto member = find_event_member(name);
    if (!member) raise_error("fields: an Event has no '" + name + "'");
    members.push_back(*member);
  }
  std::unique_ptr<tracefile::WhereExpression> expression;
  if (where) {
    auto parsed = tracefile::parse_where(where->utf8);
    if (!parsed) raise_error("where: " + to_string(parsed.error()));
    if (const auto member = tracefile::line_member_in(*parsed); !member.empty())
      raise_error("where: events have no member " + std::string{member} + " here");
    expression = std::make_unique<tracefile::WhereExpression>(std::move(*parsed));
  }
  return chained(py::cast(std::make_unique<EventChunks>(not_none(trace), std::move(expression),
                                                        std::move(members), messages)));
}

}  // namespace

void add_events(py::module_& module, py::class_<Trace, std::shared_ptr<Trace>>& type) {
  add_event_records(module);
  py::class_<EventChunks> iterator{module, "_EventChunks"};
  forbid_new(iterator);
  iterator.def("__iter__", [](py::object self) { return self; })
      .def("__next__", [](EventChunks& self) { return self.next(); });
  type.def("events", &events_of, py::kw_only(), py::arg("where") = py::none(),
           py::arg("fields") = std::vector<std::string>{}, py::arg("messages") = false,
           "Its events in time order; 'where' is an expression of 'coldtrace trace decode'. With "
           "'fields', tuples of only these members of Event, which is faster. 'messages' adds the "
           "providers' messages.");
}

}  // namespace coldtrace::python
