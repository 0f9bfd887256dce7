#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tracefile/trace.hpp"

namespace coldtrace::cli {

// Which events of a trace are wanted. Empty lists want all. Nothing of it looks at payloads.
struct TraceSelection {
  std::vector<std::string> providers;  // GUIDs or names
  std::vector<std::string> events;     // ids, names, or classes of kernel events
  std::vector<u32> pids;
  std::optional<core::FileTime> from, to;  // both included

  bool by_kind() const { return !providers.empty() || !events.empty(); }
};

// Decides event by event; remembers its answer for each kind.
class TraceSelector {
 public:
  TraceSelector(const tracefile::SchemaSource& schemas, const TraceSelection& selection)
      : selection_{selection}, decoder_{schemas} {}

  bool wants(const tracefile::Event& event);

 private:
  bool wants_kind(const tracefile::EventKind& kind) const;

  const TraceSelection& selection_;
  tracefile::EventDecoder decoder_;
  std::vector<std::optional<bool>> answers_;  // by number of kind
};

// The times as limits of the stream.
void limit_to_times(const TraceSelection& selection, const tracefile::Clock& clock,
                    tracefile::StreamOptions& options);

// "2024-02-29T12:34:56.1234567Z", with fewer or no digits of the second, or a date alone.
std::optional<core::FileTime> parse_time(std::string_view text);

}  // namespace coldtrace::cli
