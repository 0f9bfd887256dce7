#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/records/losses.hpp"
#include "coldtrace/trace_analysis/records/records.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"

namespace coldtrace::trace_export {

// A field of an event, as text.
struct Argument {
  std::string name, value;
};

// What a provider says that it did from one event to another: their opcodes are Start and Stop, and
// they have the same provider, task and thread.
struct Region {
  std::string provider, name;
  trace_analysis::Index thread;
  i64 begin;
  trace_analysis::Moment end;
  std::vector<Argument> arguments;  // of the event that begins it
};

// Finds regions, for providers with manifests and TraceLogging; kernel events have analyses of
// their own. A Stop ends the innermost open Start of its kind; those inside it never ended.
class Regions {
 public:
  using Sink = std::function<void(const Region&)>;
  Regions(core::Borrowed<tracefile::SchemaSource> schemas, core::Borrowed<tracefile::Clock> clock,
          Sink each)
      : decoder_{schemas}, texts_{clock}, each_{std::move(each)} {}

  void begin(const trace_analysis::Losses& losses) { losses_ = &losses; }
  // `keep`: whether a region that begins there is wanted.
  void on_event(const tracefile::Event& event, trace_analysis::Index thread, bool keep);
  void end_thread(trace_analysis::Index thread) { open_.erase(thread); }

 private:
  // Deepest nesting that is followed, and how many threads and fields.
  static constexpr std::size_t deepest = 256;
  static constexpr std::size_t most_threads = std::size_t{1} << 16U;

  struct Open {
    core::Guid provider;
    u16 task;
    bool keep;
    Region region;
  };

  std::vector<Argument> arguments_of(const tracefile::Event& event,
                                     const tracefile::EventKind& kind);

  tracefile::EventDecoder decoder_;
  tracefile::ValueText texts_;
  Sink each_;
  const trace_analysis::Losses* losses_ = nullptr;
  std::map<trace_analysis::Index, std::vector<Open>> open_;
};

}  // namespace coldtrace::trace_export
