#pragma once

#include <functional>
#include <tuple>

#include "coldtrace/trace_analysis/records/counter_ticks.hpp"
#include "coldtrace/trace_analysis/requests/file_io.hpp"
#include "coldtrace/trace_analysis/waits/departures.hpp"
#include "coldtrace/trace_analysis/waits/edge_table.hpp"
#include "coldtrace/trace_analysis/waits/ended_waits.hpp"

namespace coldtrace::trace_analysis {

// Which waits of threads are explained by their own requests to file systems, and which threads
// wait at the end of the trace while a request of theirs is in progress. If a request ended inside
// the wait, either the thread must have been made ready right after on that processor, or the wait
// must have taken about as long (the rule of DiskWaits); a request that the thread itself ended,
// outside of interrupts, explains all its waits since it began. Memory grows with such threads,
// files and kinds of requests, up to a stated limit.
class FileWaits final : public Analysis {
 public:
  struct Edge {
    Index thread;
    u32 file;  // its number in files()
    FileAction action;
    EndedWaits ended;
    u64 by_itself = 0;      // of these, inside a request that the thread itself ended
    u64 by_completion = 0;  // of these, ended right after the request; the others match by length
    std::optional<Moment> open_since = std::nullopt;  // the thread waits at the end of the trace
  };
  static constexpr std::size_t most_edges = std::size_t{1} << 16;

  // A wait that has an explanation, once there is one: by then, the thread may have run again.
  struct Explained {
    Index thread;
    i64 since;  // when it left its processor
    u32 file;
    FileAction action;
  };
  using Sink = std::function<void(const Explained&)>;

  // `names` must outlive it.
  FileWaits(CounterTicks counter, core::Borrowed<tracefile::NameTables> names, Sink each = {});
  FileWaits(const FileWaits&) = delete;
  FileWaits& operator=(const FileWaits&) = delete;

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override { turns_.on_ready(record); }
  void on_thread(const ThreadRecord& record) override { turns_.on_thread(record); }
  void on_interruption(const Interruption& record) override;
  void on_file_start(const FileStart& record) override;
  void on_file_end(const FileEnd& record) override { files_.on_file_end(record); }
  void finish(const Observed& observed) override;

  // In the order in which they came.
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_.all(); }
  [[nodiscard]] const FileTable& files() const { return files_.files(); }
  // Waits of edges beyond the limit, and requests with more waits than are kept.
  [[nodiscard]] u64 left_out() const { return edges_.left_out() + left_out_; }

 private:
  static constexpr std::size_t most_kept = 64;  // waits, and ended requests, of a thread

  struct Wait {
    Moment since;
    i64 length;
  };
  struct Ended {
    FileOperation operation;
    bool in_interrupt = false;
  };
  struct Thread {
    u64 under_way = 0;  // requests; too many if ends are missing
    std::vector<Wait> waits;
    std::optional<i64> waits_before;  // that are not kept any more
    std::vector<Ended> ended;         // since it last left its processor, begun before that
  };
  enum class How : u8 { by_itself, by_completion, by_length };

  void end_operation(const FileOperation& operation);
  void end_turn(const Turn& turn);
  bool explain_last(Thread& thread, const Turn& turn, How how);
  std::optional<How> explains(const FileOperation& operation, const Turn& turn) const;
  bool ended_in(const Ended& one, const Turn& turn) const;
  void take_inside(Thread& thread, const FileOperation& operation);
  Edge* edge(Index thread, u32 file, FileAction action) {
    return edges_.find_or_add({thread, file, action}, {thread, file, action, {}});
  }
  void count(const FileOperation& operation, const Wait& wait, How how);

  i64 tenth_of_millisecond_;
  Sink each_;
  Turns turns_;
  FileIo files_;
  Departures departures_;
  bool at_end_ = false;  // of the trace: turns have no end because it ends
  std::vector<Thread> threads_;
  std::vector<std::vector<Index>> ended_on_;  // by processor, since its last switch: whose requests
  EdgeTable<Edge, std::tuple<Index, u32, FileAction>> edges_{most_edges};
  u64 left_out_ = 0;  // waits that a request had before those that are kept
};

}  // namespace coldtrace::trace_analysis
