#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/integers.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"

namespace coldtrace::trace_analysis {

// Times are in ticks of the trace's clock: raw timestamps of an .etl file, FILETIMEs of a .ctrace
// file.

// Number of a process or thread in the tables of a Population.
using Index = u32;
constexpr Index nobody = 0xffff'ffff;

// Where in the trace something was said.
struct Place {
  u64 buffer = 0;  // offset of the event's buffer in the file
  u32 offset = 0;  // of the event in the uncompressed buffer

  bool operator==(const Place&) const = default;
};

// When a process or thread existed. An absent time lies before or after the trace, or was lost.
struct Lifetime {
  std::optional<i64> start, end;
  std::optional<Place> started_at, ended_at;
};

// A process of a trace; a pid may belong to several, one after the other.
struct Process {
  u32 pid;
  Lifetime life;
  std::optional<u32> stated_parent;  // the pid that the event names
  Index parent = nobody;             // the process that had that pid then
  Index creator = nobody;            // the thread that logged the start
  std::optional<u32> exit_status;
  std::string image_name;  // exact text; may be empty
  std::string command_line;
};

// A thread of a trace; a tid may belong to several, one after the other.
struct Thread {
  u32 tid;
  Index process = nobody;
  Lifetime life;
  Index creator = nobody;  // the thread that logged the start
  u64 start_address = 0;   // requested by the creator; 0: not known
  u64 object = 0;          // address of its thread object; 0: not known
  std::optional<u32> exit_status;
  std::optional<u16> idle_of;  // the processor whose idle thread it is
  std::string name;
  bool is_gone = false;  // it has left its processor for good
};

// Everyone who existed during a trace, each with its own number: ids are reused, and a pid may
// equal a tid. An id means whoever had it last, even after the end, until it is given out again.
//
// If the events that are read begin in the middle of a trace, earlier ones have named many: whoever
// is first met gets the name that the trace has for the id at that time.
class Population {
 public:
  Population() = default;
  // `names` must outlive it.
  explicit Population(core::Borrowed<tracefile::NameTables> names) : names_{&names.get()} {}

  // For the events that follow.
  void set_time(i64 time) { now_ = time; }

  [[nodiscard]] const std::vector<Process>& processes() const { return processes_; }
  [[nodiscard]] const std::vector<Thread>& threads() const { return threads_; }

  // Who has the id now; if nobody has it, somebody new whose start is not known.
  Index process(u32 pid);
  Index thread(u32 tid);
  Index idle_thread(u16 cpu);
  // Who has the id and can run: instead of one that is gone, somebody new whose start is missing.
  Index living_thread(u32 tid);
  // Whom a rundown at the end lists: nobody whose end was logged.
  Index listed_process(u32 pid);
  Index listed_thread(u32 tid);

  // Somebody begins. A rundown at the start lists who existed before.
  Index start_process(u32 pid, i64 time, const Place& place);
  Index start_thread(u32 tid, i64 time, const Place& place);

  Process& at_process(Index index) { return processes_[index]; }
  Thread& at_thread(Index index) { return threads_[index]; }

  // How often a process or thread began with an id that another one had before.
  [[nodiscard]] u64 reused_ids() const { return reused_; }

  // To be called once, after all records: finds the parents of those that a rundown lists.
  void finish();

 private:
  // Ids are usually small multiples of four.
  class Ids {
   public:
    Index find(u32 id) const;
    void set(u32 id, Index index);

   private:
    static constexpr u32 dense_ids = 1U << 20U;
    std::vector<Index> dense_;  // by id / 4
    std::unordered_map<u32, Index> others_;
  };

  const tracefile::NameTables* names_ = nullptr;
  i64 now_ = 0;
  std::vector<Process> processes_;
  std::vector<Thread> threads_;
  Ids pids_, tids_;
  std::vector<Index> idle_;  // by processor
  u64 reused_ = 0;
};

// Who had the id at some time from `from` to `to`, both inclusive, as far as the trace shows; idle
// threads, which have no id of their own, are left out. A thread whose end is not known exists
// until the id is given out again; one whose start is not known is taken to exist at `from`.
[[nodiscard]] std::vector<Index> find_threads(const Population& population, u32 tid, i64 from,
                                              i64 to);

// The id of the process that a thread belongs to, as far as known yet.
[[nodiscard]] std::optional<u32> pid_of(const Population& population, Index thread);

}  // namespace coldtrace::trace_analysis
