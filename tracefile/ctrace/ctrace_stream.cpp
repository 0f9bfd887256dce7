#include "tracefile/ctrace/ctrace_stream.hpp"

#include <algorithm>
#include <tuple>

#include "tracefile/etl/sift_down.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u32 first_entry = CtraceBufferHeader::size_on_disk;

}  // namespace

CtraceStream::CtraceStream(const Ctrace& trace, const StreamOptions& options)
    : trace_{trace}, options_{options} {
  plan_gaps();
  if (options_.order == Order::file)
    add_run(0, 0, 0);
  else
    for (std::size_t i = 0; i < trace_.chains().size(); ++i)
      add_run(i, trace_.chains()[i].part, trace_.chains()[i].first_buffer);
  std::make_heap(heap_.begin(), heap_.end(),
                 [&](const auto& a, const auto& b) { return before(*b, *a); });
}

void CtraceStream::add_run(std::size_t number, u16 part, u64 first_buffer) {
  auto run = std::make_unique<Run>();
  run->number = number;
  if (begin_buffer(*run, part, first_buffer)) heap_.push_back(std::move(run));
}

void CtraceStream::plan_gaps() {
  for (std::size_t i = 0; i < trace_.parts().size(); ++i) {
    const auto& part = trace_.parts()[i];
    for (auto gap : part.scan.gaps) {
      gap.file = static_cast<u16>(i);
      if (gap.timestamp && gap.cpu) {
        CtraceClock::Cursor cursor;
        gap.file_time =
            trace_.clock_of(part, *gap.cpu).to_time(static_cast<u64>(*gap.timestamp), cursor).ticks;
      }
      if (gap.cpu) gap.cpu = part.cpu_of(*gap.cpu);
      gaps_.push_back(gap);
    }
  }
  const bool in_file = options_.order == Order::file;
  // Those whose time is not known come last.
  std::stable_sort(gaps_.begin(), gaps_.end(), [&](const Gap& a, const Gap& b) {
    if (in_file) return std::tuple{a.file, a.offset} < std::tuple{b.file, b.offset};
    return std::tuple{!a.timestamp, a.file_time, a.file, a.offset} <
           std::tuple{!b.timestamp, b.file_time, b.file, b.offset};
  });
}

// What was lost came before its buffer's events, damage comes after those before it.
bool CtraceStream::is_due(const Gap& gap) const {
  const bool loss = gap.length == 0;
  if (options_.order == Order::file) {
    if (event_.file != gap.file) return event_.file > gap.file;
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

bool CtraceStream::is_wanted(const CtraceBufferEntry& buffer, Run& run) const {
  if (buffer.events == 0) return false;
  if (!options_.first && !options_.last) return true;
  const auto time = [&](u64 stamp) { return run.clock->to_time(stamp, run.cursor).ticks; };
  return (!options_.first || time(buffer.last_stamp) >= static_cast<u64>(*options_.first)) &&
         (!options_.last || time(buffer.first_stamp) <= static_cast<u64>(*options_.last));
}

// Makes the first wanted buffer from `index` on the current one; false when there is none. Nothing
// of it is read before its first event is due.
bool CtraceStream::begin_buffer(Run& run, u16 number, u64 index) {
  const bool in_file = options_.order == Order::file;
  while (index != CtraceBufferEntry::none) {
    const auto& part = trace_.parts()[number];
    if (in_file && index >= part.scan.buffers.size()) {
      if (++number >= trace_.parts().size()) return false;
      index = 0;
      continue;
    }
    const auto buffer = part.scan.buffers.at(index);
    if (!buffer) {
      const auto known = run.part == number ? run.buffer.offset + run.buffer.length : 0;
      add_unread(number, known, 0, std::nullopt);
      return false;
    }
    if (const auto& clock = trace_.clock_of(part, buffer->processor); run.clock != &clock) {
      run.clock = &clock;
      run.cursor = {};
    }
    if (is_wanted(*buffer, run)) {
      if (options_.progress != nullptr) options_.progress->add(buffer->length, buffer->events);
      run.part = number;
      run.index = index;
      run.buffer = *buffer;
      run.offset = 0;
      run.bytes.reset();
      run.time = run.clock->to_time(buffer->first_stamp, run.cursor).ticks;
      return true;
    }
    if (!in_file && buffer->next_part != CtraceBufferEntry::same_part) number = buffer->next_part;
    index = in_file ? index + 1 : buffer->next;
  }
  return false;
}

bool CtraceStream::begin_next(Run& run) {
  if (options_.order == Order::file) return begin_buffer(run, run.part, run.index + 1);
  const auto part = run.buffer.next_part;
  return begin_buffer(run, part == CtraceBufferEntry::same_part ? run.part : part, run.buffer.next);
}

// What could be read once and cannot be now is a gap.
void CtraceStream::add_unread(u16 part, u64 offset, u64 length, std::optional<u16> cpu) {
  gaps_.push_back({Gap::Reason::unreadable, offset, length, {}, cpu, 0});
  gaps_.back().file = part;
  ++unread_buffers_;
}

void CtraceStream::load(Run& run) {
  const auto& entry = run.buffer;
  auto buffer = std::make_shared<Buffer>();
  auto* memory = buffer->storage.get(entry.length);
  const auto& part = trace_.parts()[run.part];
  if (part.source->read_at(entry.offset, {memory, entry.length}))
    buffer->bytes = {memory, entry.length};
  else
    add_unread(run.part, entry.offset, entry.length, part.cpu_of(entry.processor));
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
      run.time = run.clock->to_time(run.entry.stamp, run.cursor).ticks;
      return true;
    }
    held_ -= run.bytes->bytes.size();
    if (!begin_next(run)) return false;
    // The next buffer is read when it is due.
    if (options_.order == Order::time) return true;
  }
}

bool CtraceStream::before(const Run& a, const Run& b) const {
  return std::tie(a.time, a.number) < std::tie(b.time, b.number);
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
    trace_.to_event(run.part, run.buffer, run.entry, *run.clock, run.cursor, event_);
    event_buffer_ = run.bytes;
    const auto time = event_.file_time;
    if (options_.first && time < static_cast<u64>(*options_.first)) continue;
    if (options_.last && time > static_cast<u64>(*options_.last)) continue;
    return true;
  }
  return false;
}

std::unique_ptr<EventSequence> Ctrace::stream(const StreamOptions& options) const {
  return std::make_unique<CtraceStream>(*this, options);
}

}  // namespace coldtrace::tracefile
