#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/tracefile/etl/event_stream.hpp"
#include "coldtrace/tracefile/where/event_filter.hpp"

namespace coldtrace::tracefile {

// Which events of a trace are wanted: those that match all its parts. Empty lists match all.
struct EventSelection {
  std::vector<std::string> providers;  // GUIDs, names or globs
  std::vector<std::string> events;     // ids, or names or globs of events or their classes
  std::vector<std::string> processes;  // ids, or names or globs of their images
  std::vector<u32> tids;
  std::optional<core::FileTime> from, to;  // both included
  std::optional<WhereExpression> where;

  [[nodiscard]] bool by_kind() const { return !providers.empty() || !events.empty(); }
  [[nodiscard]] bool by_time() const { return from || to; }
  [[nodiscard]] bool all() const {
    return !by_kind() && processes.empty() && tids.empty() && !by_time() && !where;
  }
};

// Whether a provider or an event is what one of those lists asks for.
[[nodiscard]] bool is_provider(std::string_view wanted, const EventKind& kind);
[[nodiscard]] bool is_event(std::string_view wanted, const EventKind& kind);
// Whether a process with this id and image is what "4711", "notepad.exe" or "note*" asks for.
[[nodiscard]] bool is_process(std::string_view wanted, u32 pid, std::string_view image_name);
// "Process" of "Process/Start".
[[nodiscard]] std::string_view event_class_of(std::string_view name);
template <core::TemporaryText T>
std::string_view event_class_of(T&&) = delete;

// Decides event by event; remembers its answer for each kind, and what was asked for in vain.
class EventSelector {
 public:
  // All that is given must outlive the selector.
  EventSelector(const EventContext& context, core::Borrowed<EventSelection> selection);

  // `attached` is the stack that other events supply for the event, or null.
  bool wants(const Event& event, const AttachedStack* attached = nullptr);

  // What no event matched, once all were seen. Processes are shown as `shown_process` shows them.
  [[nodiscard]] core::NoMatch unmatched(const core::ShownName& shown_process = {}) const;

 private:
  // One list of a selection, and which of it some event had.
  struct Asked {
    std::vector<bool> met;
    std::set<std::string, std::less<>> names;  // that events had

    bool meets(const std::vector<std::string>& wanted, const EventKind& kind,
               bool (*matches)(std::string_view, const EventKind&));
    void report(core::NoMatch& unmatched, std::string_view option,
                const std::vector<std::string>& wanted) const;
  };

  // Processes of a selection, and which of them some event had.
  struct AskedProcesses {
    std::vector<bool> met;
    std::set<std::string, std::less<>> names;  // that processes of events had

    bool meets(const std::vector<std::string>& wanted, const Event& event,
               const EventContext& context);
    void report(core::NoMatch& unmatched, const std::vector<std::string>& wanted,
                const core::ShownName& shown_name) const;
  };

  // Ids of a selection, and which of them some event had.
  struct AskedIds {
    std::set<u32> met;

    bool meets(const std::vector<u32>& wanted, std::optional<u32> id);
    void report(core::NoMatch& unmatched, std::string_view option,
                const std::vector<u32>& wanted) const;
  };

  bool wants_kind(const EventKind& kind);
  bool has_wanted_kind(const Event& event);

  const EventContext context_;
  const EventSelection& selection_;
  EventDecoder decoder_;
  std::vector<std::optional<bool>> answers_;  // by number of kind
  Asked providers_;
  Asked events_;
  AskedProcesses processes_;
  AskedIds tids_;
  std::optional<EventFilter> filter_;
  bool any_ = false;
};

// What a first pass over the events may leave out because of it; nothing if every event has to be
// seen, since each list of a selection reports what no event had. The selection must outlive it.
[[nodiscard]] std::unique_ptr<const EventSieve> make_sieve(const EventSelection& selection);

// The times as limits of the stream.
void limit_to_times(const EventSelection& selection, const Clock& clock, StreamOptions& options);

}  // namespace coldtrace::tracefile
