#pragma once

#include "coldtrace/tracefile/ctrace/ctrace.hpp"
#include "coldtrace/tracefile/events/event_sequence.hpp"

namespace coldtrace::tracefile {

// The events of .ctrace files, merged from their processors by time; at one time by processor.
// Those of a processor come in the order in which its session wrote its buffers; one that is older
// than the one before it follows at once.
class CtraceStream final : public EventSequence {
 public:
  // `trace` must outlive the stream.
  CtraceStream(const Ctrace& trace, const StreamOptions& options);

  Item next() override;
  const Event& event() const override { return event_; }
  const std::shared_ptr<const Buffer>& buffer() const override { return event_buffer_; }
  const Gap& gap() const override { return gaps_[gaps_passed_ - 1]; }
  u64 unread_buffers() const override { return unread_buffers_; }

 private:
  // One processor of a session, or all files one behind the other in the order of the file.
  struct Run {
    std::size_t number = 0;      // of those that there are
    u16 part = 0;                // the file of the current buffer
    u64 index = 0;               // of the current buffer
    CtraceBufferEntry buffer{};  // the current one
    u64 time = 0;                // FILETIME of the next event
    u32 offset = 0;              // of the next event in its buffer; 0: not yet begun
    const CtraceClock* clock = nullptr;
    CtraceClock::Cursor cursor;
    std::shared_ptr<const Buffer> bytes;  // of the current buffer; null: not read, or dropped
    CtraceEntries entries;
    CtraceEntry entry{};  // the next event
  };

  void add_run(std::size_t number, u16 part, u64 first_buffer);
  void plan_gaps();
  bool is_wanted(const CtraceBufferEntry& buffer, Run& run) const;
  void load(Run& run);
  void add_unread(u16 part, u64 offset, u64 length, std::optional<u16> cpu);
  bool begin_buffer(Run& run, u16 number, u64 index);
  bool begin_next(Run& run);
  bool step(Run& run);
  bool advance();
  void drop_latest(const Run& keep);
  bool before(const Run& a, const Run& b) const;
  bool is_due(const Gap& gap) const;

  const Ctrace& trace_;
  StreamOptions options_;
  std::vector<std::unique_ptr<Run>> heap_;  // the earliest first
  bool consumed_ = false;                   // the first run's event was handed out
  std::size_t held_ = 0;
  std::vector<Gap> gaps_;  // with their times
  std::size_t gaps_passed_ = 0;
  u64 unread_buffers_ = 0;
  bool pending_ = false;  // event_ waits behind a gap
  bool at_end_ = false;
  Event event_{};
  std::shared_ptr<const Buffer> event_buffer_;
};

}  // namespace coldtrace::tracefile
