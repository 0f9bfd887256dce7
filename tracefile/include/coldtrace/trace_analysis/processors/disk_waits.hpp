#pragma once

#include "coldtrace/trace_analysis/requests/disk_requests.hpp"
#include "coldtrace/trace_analysis/scheduling/turns.hpp"

namespace coldtrace::trace_analysis {

// Whether a wait took about as long as a request, in ticks; `slack` is a tenth of a millisecond.
// Source: PerfView, ThreadTimeStackComputer.
[[nodiscard]] bool is_about(i64 wait, i64 request, i64 slack);

// Which waits a disk request explains: a wait is explained by the thread's last request that had
// ended when the thread was made ready, if it ended inside the wait, and either a DPC of the same
// processor made the thread ready right after, or the wait took about as long as the request.
class DiskWaits final : public Analysis {
 public:
  // The last request of a thread that has ended.
  struct Ended {
    std::optional<u32> disk;
    DiskAction action;
    Moment end;
    std::optional<i64> response;  // ticks
  };

  enum class How : u8 { by_interrupt, by_length };

  explicit DiskWaits(CounterTicks counter);
  DiskWaits(const DiskWaits&) = delete;
  DiskWaits& operator=(const DiskWaits&) = delete;

  void begin(const Observed& observed) override { requests_.begin(observed); }
  void on_disk_start(const DiskStart& record) override { requests_.on_disk_start(record); }
  void on_disk_end(const DiskEnd& record) override { requests_.on_disk_end(record); }

  // To be called when a thread is made ready.
  [[nodiscard]] std::optional<Ended> last_of(Index thread) const;
  // How it explains the wait before the turn; nothing if it does not.
  [[nodiscard]] std::optional<How> explains(const Ended& last, const Turn& turn) const;
  // Those that have not ended, ordered by their begin.
  [[nodiscard]] std::vector<DiskStart> open() const { return requests_.open(); }

 private:
  i64 tenth_of_millisecond_;
  std::vector<std::optional<Ended>> ended_;  // by thread
  DiskRequests requests_;
};

}  // namespace coldtrace::trace_analysis
