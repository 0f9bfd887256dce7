#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/progress.hpp"
#include "coldtrace/core/temporary_file.hpp"
#include "coldtrace/tracefile/etl/catalog.hpp"
#include "coldtrace/tracefile/etl/running_threads.hpp"
#include "coldtrace/tracefile/events/event_sequence.hpp"
#include "coldtrace/tracefile/names/payload_threads.hpp"

namespace coldtrace::tracefile {

// The order of events.
enum class Order : u8 {
  time,  // across processors; events of equal time by processor, then in file order
  file,
};

// Which events come, and how.
struct StreamOptions {
  Order order = Order::time;
  unsigned pointer_size = 0;                            // if not 0, overrides that of every event
  std::optional<i64> first, last;                       // raw timestamps of the events wanted
  std::size_t largest_buffers = std::size_t{48} << 20;  // bytes of buffers held at a time
  core::Progress* progress = nullptr;                   // is told of each buffer that is begun
  bool sieved = false;  // only buffers in which the sieve of the catalog found wanted events
};

// The events of all files of a trace one after the other, with the gaps at their places. In file
// order, one file follows the other. Buffers are runs that overlap in time. For each run, a window
// of its bytes is held once its first event is due. If too many overlap, windows become smaller,
// and those due late are dropped and read again, so that memory stays bounded; a compressed buffer
// is unpacked as a whole, and goes to a temporary file when dropped.
class EventStream final : public EventSequence {
 public:
  // What is given must outlive the stream.
  EventStream(core::BorrowedSpan<ScannedFile> files, core::Borrowed<NameTables> names,
              const StreamOptions& options);

  Item next() override;
  [[nodiscard]] const Event& event() const override { return event_; }
  [[nodiscard]] const std::shared_ptr<const Buffer>& buffer() const override {
    return event_buffer_;
  }
  [[nodiscard]] const Gap& gap() const override { return *gap_; }
  [[nodiscard]] u64 unread_buffers() const override { return unread_.size(); }

 private:
  struct Run {
    u16 file;
    u32 index;                            // of the buffer in its file
    u32 next;                             // offset of what follows the current event
    u32 end;                              // of the plain bytes
    std::size_t damaged;                  // stretches of damage that lie before `next`
    i64 time;                             // of the current event
    Event event;                          // valid while there are bytes
    std::shared_ptr<const Buffer> bytes;  // from `base` of the buffer on; null: dropped
    u32 base;
    std::optional<u64> spilled;  // where the plain bytes lie in spill_
    u32 handed_out;              // events
    bool follows_loss;           // the current event; nothing was said of it yet
  };

  void plan_buffers();
  void plan_gaps();
  bool advance();
  bool next_in_file();
  bool next_in_time();
  const BufferScan& scan_of(const Run& run) const { return files_[run.file].scan; }
  const BufferEntry& entry_of(const Run& run) const { return scan_of(run).buffers[run.index]; }
  Run open_next();
  bool step(Run& run);
  bool read(Run& run, u32 offset);
  void load(Run& run, u32 offset, u32 size);
  bool load_window(Run& run, const core::ImageSource& source, u64 start, u32 offset, u32 size);
  u32 window() const;
  void open_due();
  void end_first(u32 offset);
  void hand_out(Run& run);
  void end(Run& run, u32 offset);
  void release(Run& run);
  void spill(Run& run);
  void shrink(const Run& keep);
  bool before(const Run& a, const Run& b) const;
  bool is_due(const Gap& gap) const;
  bool comes_before(const Gap& a, const Gap& b) const;
  bool wanted(const Event& event) const;

  struct Place {
    u16 file;
    u32 index;
  };

  std::span<const ScannedFile> files_;
  const NameTables& names_;
  StreamOptions options_;
  bool has_one_clock_;       // else a processor of one file is not that of another
  std::vector<Place> plan_;  // buffers in the order they are opened
  std::size_t opened_ = 0;
  std::vector<std::unique_ptr<Run>> heap_;  // the earliest run first
  std::size_t held_ = 0;                    // bytes of all runs
  std::unique_ptr<core::TemporaryFile> spill_;
  bool spill_failed_ = false;
  bool consumed_ = true;  // the first run's event was handed out
  std::vector<const Gap*> gaps_;
  std::size_t gaps_passed_ = 0;
  std::deque<Gap> unread_;  // of buffers that could be read only once; in gaps_ too
  bool pending_ = false;    // event_ waits behind a gap
  bool at_end_ = false;
  const Gap* gap_ = nullptr;
  PayloadThreads payload_threads_;
  RunningThreads running_;
  i64 event_time_ = 0;           // by which event_ is ordered
  bool processor_known_ = true;  // of event_
  Event event_{};
  std::shared_ptr<const Buffer> event_buffer_;
};

}  // namespace coldtrace::tracefile
