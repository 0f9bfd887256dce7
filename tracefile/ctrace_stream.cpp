#include "tracefile/ctrace_stream.hpp"

#include <algorithm>
#include <tuple>

#include "tracefile/sift_down.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u32 first_entry = CtraceBufferHeader::size_on_disk;

}  // namespace

CtraceStream::CtraceStream(const Ctrace& trace, const StreamOptions& options)
    : trace_{trace}, options_{options} {
  plan_buffers();
  plan_gaps();
}

void CtraceStream::plan_buffers() {
  std::map<u16, std::unique_ptr<Run>> runs;
  const auto& buffers = trace_.scan().buffers;
  for (u32 i = 0; i < buffers.size(); ++i) {
    const auto& entry = buffers[i];
    if (entry.events == 0) continue;
    const auto& clock = trace_.clock_of(entry.processor);
    std::size_t hint = 0;
    if (options_.first &&
        clock.to_time(entry.last_stamp, hint).ticks < static_cast<u64>(*options_.first))
      continue;
    if (options_.last &&
        clock.to_time(entry.first_stamp, hint).ticks > static_cast<u64>(*options_.last))
      continue;
    auto& run = runs[options_.order == Order::file ? u16{0} : entry.processor];
    if (!run) run = std::make_unique<Run>();
    run->processor = entry.processor;
    run->buffers.push_back(i);
  }
  for (auto& [processor, run] : runs) {
    begin_buffer(*run);
    heap_.push_back(std::move(run));
  }
  std::make_heap(heap_.begin(), heap_.end(),
                 [&](const auto& a, const auto& b) { return before(*b, *a); });
}

void CtraceStream::plan_gaps() {
  gaps_ = trace_.scan().gaps;
  for (auto& gap : gaps_) {
    if (!gap.timestamp || !gap.cpu) continue;
    std::size_t hint = 0;
    gap.file_time = trace_.clock_of(*gap.cpu).to_time(static_cast<u64>(*gap.timestamp), hint).ticks;
  }
  const bool in_file = options_.order == Order::file;
  // Those whose time is not known come last.
  std::stable_sort(gaps_.begin(), gaps_.end(), [&](const Gap& a, const Gap& b) {
    if (in_file) return a.offset < b.offset;
    return std::tuple{!a.timestamp, a.file_time, a.offset} <
           std::tuple{!b.timestamp, b.file_time, b.offset};
  });
}

// What was lost came before its buffer's events, damage comes after those before it.
bool CtraceStream::is_due(const Gap& gap) const {
  const bool loss = gap.length == 0;
  if (options_.order == Order::file) {
    const auto place = event_.buffer_offset + event_.offset;
    return loss ? event_.buffer_offset >= gap.offset : place > gap.offset;
  }
  if (!gap.timestamp) return false;
  return loss ? event_.file_time >= gap.file_time : event_.file_time > gap.file_time;
}

EventSequence::Item CtraceStream::next() {
  if (!pending_ && !at_end_) {
    pending_ = advance();
    at_end_ = !pending_;
  }
  if (gaps_passed_ < gaps_.size() && (at_end_ || is_due(gaps_[gaps_passed_]))) {
    ++gaps_passed_;
    return Item::gap;
  }
  if (at_end_) return Item::end;
  pending_ = false;
  return Item::event;
}

const CtraceBufferEntry& CtraceStream::entry_of(const Run& run) const {
  return trace_.scan().buffers[run.buffers[run.current]];
}

// Nothing of a buffer is read before its first event is due.
void CtraceStream::begin_buffer(Run& run) {
  const auto& entry = entry_of(run);
  if (run.clock == nullptr || entry.processor != run.processor) {
    run.processor = entry.processor;
    run.clock = &trace_.clock_of(entry.processor);
    run.hint = 0;
  }
  run.offset = 0;
  run.bytes.reset();
  run.time = run.clock->to_time(entry.first_stamp, run.hint).ticks;
}

void CtraceStream::load(Run& run) {
  const auto& entry = entry_of(run);
  auto buffer = std::make_shared<Buffer>();
  auto* memory = buffer->storage.get(entry.length);
  // What could be read once and cannot be now is left out.
  if (trace_.source().read_at(entry.offset, {memory, entry.length}))
    buffer->bytes = {memory, entry.length};
  held_ += buffer->bytes.size();
  run.bytes = std::move(buffer);
  run.entries =
      CtraceEntries{run.bytes->bytes, entry.sequence, run.offset == 0 ? first_entry : run.offset};
}

// Makes the next committed entry of the run its current one; false after its last buffer.
bool CtraceStream::step(Run& run) {
  while (true) {
    if (!run.bytes) load(run);
    for (auto item = run.entries.next(); item != CtraceEntries::Item::end;
         item = run.entries.next()) {
      if (item == CtraceEntries::Item::torn || !run.entries.entry().committed) continue;
      run.entry = run.entries.entry();
      run.offset = run.entry.offset;
      run.time = run.clock->to_time(run.entry.stamp, run.hint).ticks;
      return true;
    }
    held_ -= run.bytes->bytes.size();
    if (++run.current == run.buffers.size()) return false;
    begin_buffer(run);
    // The next buffer is read when it is due.
    if (options_.order == Order::time) return true;
  }
}

bool CtraceStream::before(const Run& a, const Run& b) const {
  return std::tie(a.time, a.processor) < std::tie(b.time, b.processor);
}

void CtraceStream::drop_latest(const Run& keep) {
  while (held_ > options_.largest_buffers) {
    Run* latest = nullptr;
    for (const auto& run : heap_)
      if (run->bytes && run.get() != &keep && (latest == nullptr || before(*latest, *run)))
        latest = run.get();
    if (latest == nullptr) return;
    held_ -= latest->bytes->bytes.size();
    latest->bytes.reset();
  }
}

bool CtraceStream::advance() {
  while (!heap_.empty()) {
    auto& run = *heap_.front();
    const bool not_read = !run.bytes;
    // On behind the event that was handed out, to the first of a new buffer, or back to where a
    // dropped buffer was.
    if (consumed_ || not_read) {
      consumed_ = false;
      if (step(run)) {
        if (not_read) drop_latest(run);
      } else {
        std::swap(heap_.front(), heap_.back());
        heap_.pop_back();
      }
      sift_down(heap_, [this](const Run& a, const Run& b) { return before(a, b); });
      continue;
    }
    consumed_ = true;
    trace_.to_event(entry_of(run), run.entry, *run.clock, run.hint, event_);
    event_buffer_ = run.bytes;
    const auto time = event_.file_time;
    if (options_.first && time < static_cast<u64>(*options_.first)) continue;
    if (options_.last && time > static_cast<u64>(*options_.last)) continue;
    return true;
  }
  return false;
}

}  // namespace coldtrace::tracefile
