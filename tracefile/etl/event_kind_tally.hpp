#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "coldtrace/tracefile/etl/kind_counts.hpp"
#include "coldtrace/tracefile/providers/trace_schemas.hpp"
#include "tracefile/providers/schema_collector.hpp"

namespace coldtrace::tracefile {

// Counts events by kind in the very pass that finds their schemas, which saves reading and
// decompressing a long trace twice. Events are measured with the schemas of earlier parts of the
// file. The first schema of a key takes precedence: only events that have another one in the end,
// or do not fit it and have others to try, are measured again.
class EventKindTally {
 public:
  // Of one part of the file: the kinds in doubt, and the buffers that have them.
  struct Part {
    std::vector<KindCount> provisional;
    std::vector<u32> buffers;
  };

  // What one thread counts.
  class Counter {
   public:
    explicit Counter(EventKindTally& tally) : tally_{tally} {}
    void begin_part();
    void count(const Event& event);
    void end_buffer(u32 index);
    Part end_part();

   private:
    friend class EventKindTally;
    bool is_provisional(const EventKind& kind) const;
    void settle();

    EventKindTally& tally_;
    std::size_t generation_ = 0;
    TraceSchemas schemas_;  // of some parts from the start of the file
    std::unique_ptr<SchemaChain> chain_;
    std::unique_ptr<EventDecoder> decoder_;
    KindCounter counter_;
    KindCounts settled_;             // of schemas before
    std::vector<bool> known_;        // by number of kind: whether it was looked at,
    std::vector<bool> provisional_;  // and whether it is in doubt
    std::vector<u32> provisional_numbers_;
    bool buffer_provisional_ = false;
    Part part_;
  };

  EventKindTally(unsigned workers, std::shared_ptr<const SchemaSource> outside);
  Counter& counter(unsigned worker) { return counters_[worker]; }

  // In the order of the file, with the schemas up to and of the part.
  void add(const Part& part, const SchemaCollector& schemas);

  // Calls a function with the events of the buffer with an index.
  using Visit = std::function<void(u32, const std::function<void(const Event&)>&)>;
  // With the schemas of the whole file.
  std::vector<KindCount> finish(const TraceSchemas& schemas, const Visit& visit);

 private:
  struct Doubt {
    SchemaKey key;
    std::shared_ptr<const EventSchema> schema;  // that they were measured with, and where it failed
    std::vector<std::shared_ptr<const EventSchema>> others;
    friend auto operator<=>(const Doubt&, const Doubt&) = default;
  };
  struct UncertainPart {
    std::vector<Doubt> doubts;
    std::vector<u32> buffers;
  };

  std::mutex mutex_;
  std::size_t generation_ = 1;  // of schemas_
  TraceSchemas schemas_;
  std::size_t schemas_size_ = 0;
  std::deque<Counter> counters_;
  std::map<Doubt, KindCount> provisional_;
  std::vector<UncertainPart> parts_;
};

}  // namespace coldtrace::tracefile
