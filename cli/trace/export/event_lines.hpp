#pragma once

#include <functional>
#include <optional>
#include <string>

#include <rapidjson/document.h>

#include "cli/trace/trace_input.hpp"
#include "cli/trace/trace_schemas.hpp"

namespace coldtrace::cli {

// Options of exports with a record for each event.
struct EventExportOptions : TraceInputOptions {
  SchemaOptions schemas;
  tracefile::EventSelection selection;
  std::optional<std::string> where;
};

void add_event_export_options(Command& command, EventExportOptions& options);

// One event or gap as `trace decode` writes it.
struct EventLine {
  const rapidjson::Value& json;
  const tracefile::Event* event;  // null of a gap
  // The schema by which the event is decoded; null for a gap, and for an event without one. Valid
  // during the call.
  const tracefile::EventSchema* schema;
  std::optional<core::FileTime> time;
};

// Exports the events of a trace, from opening it to the exit code.
class EventExport {
 public:
  explicit EventExport(const EventExportOptions& options);
  EventExport(const EventExport&) = delete;
  EventExport& operator=(const EventExport&) = delete;

  // Whether there is a trace and a valid selection; if not, that has been reported.
  bool opened() const { return input_.has_value() && ready_; }

  TraceInput& input() { return *input_; }
  const tracefile::EventSelection& selection() const { return selection_; }

  // Passes all of them to `take`, in order of time.
  void each(const std::function<void(const EventLine&)>& take);

  // Finishes with a complete output.
  Exit finish(Output& output);

 private:
  tracefile::EventSelection selection_;
  bool ready_ = true;
  Report report_;
  std::optional<TraceInput> input_;
  std::optional<TraceSchemas> schemas_;
};

}  // namespace coldtrace::cli
