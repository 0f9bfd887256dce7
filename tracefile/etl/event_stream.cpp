#include "coldtrace/tracefile/etl/event_stream.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "coldtrace/tracefile/etl/trace_header.hpp"
#include "tracefile/etl/sift_down.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u32 first_event = BufferHeader::size_on_disk;
constexpr u32 alignment = 8;
constexpr u32 largest_window = 64U << 10;  // holds any one event
constexpr u32 least_window = 4U << 10;

}  // namespace

EventStream::EventStream(core::BorrowedSpan<ScannedFile> files, core::Borrowed<NameTables> names,
                         const StreamOptions& options)
    : files_{files.get()},
      names_{names.get()},
      options_{options},
      has_one_clock_{std::ranges::none_of(
          files_, [](const ScannedFile& file) { return file.scan.other_clock.has_value(); })} {
  plan_buffers();
  plan_gaps();
}

void EventStream::plan_buffers() {
  for (std::size_t file = 0; file < files_.size(); ++file) {
    const auto& buffers = files_[file].scan.buffers;
    for (u32 i = 0; i < buffers.size(); ++i) {
      const auto& entry = buffers[i];
      if (entry.events == 0) continue;
      if (options_.first && entry.last_time < *options_.first) continue;
      if (options_.last && entry.first_time > *options_.last) continue;
      if (options_.sieved && !entry.wanted) {
        if (options_.progress != nullptr) options_.progress->add(entry.size, entry.events);
        continue;
      }
      plan_.push_back({static_cast<u16>(file), i});
    }
  }
  if (options_.order == Order::file) return;
  const auto key = [&](const Place& place) {
    const auto& entry = files_[place.file].scan.buffers[place.index];
    return std::tuple{entry.first_time, entry.processor, place.file, place.index};
  };
  std::sort(plan_.begin(), plan_.end(),
            [&](const Place& a, const Place& b) { return key(a) < key(b); });
}

void EventStream::plan_gaps() {
  for (const auto& file : files_)
    for (const auto& gap : file.scan.gaps) gaps_.push_back(&gap);
  std::stable_sort(gaps_.begin(), gaps_.end(),
                   [this](const Gap* a, const Gap* b) { return comes_before(*a, *b); });
}

// Those whose time is not known come last.
bool EventStream::comes_before(const Gap& a, const Gap& b) const {
  if (options_.order == Order::file) return std::tie(a.file, a.offset) < std::tie(b.file, b.offset);
  return std::tuple{!a.timestamp, a.timestamp.value_or(0), a.file, a.offset} <
         std::tuple{!b.timestamp, b.timestamp.value_or(0), b.file, b.offset};
}

// Whether the gap comes before event_. What was lost came before its buffer's events, damage and
// missing buffers come after the events that could be read.
bool EventStream::is_due(const Gap& gap) const {
  const bool loss = gap.length == 0;
  if (options_.order == Order::file) {
    if (event_.file != gap.file) return event_.file > gap.file;
    if (loss) return event_.buffer_offset >= gap.offset;
    const auto& run = *heap_.front();
    return place_of(context_of(entry_of(run), scan_of(run)), event_.offset) > gap.offset;
  }
  if (!gap.timestamp) return false;
  return loss && gap.reason != Gap::Reason::buffers_missing ? event_time_ >= *gap.timestamp
                                                            : event_time_ > *gap.timestamp;
}

EventStream::Item EventStream::next() {
  if (!pending_ && !at_end_) {
    pending_ = advance();
    at_end_ = !pending_;
  }
  if (gaps_passed_ < gaps_.size() && (at_end_ || is_due(*gaps_[gaps_passed_]))) {
    gap_ = gaps_[gaps_passed_++];
    return Item::gap;
  }
  if (at_end_) return Item::end;
  pending_ = false;
  return Item::event;
}

bool EventStream::wanted(const Event& event) const {
  return (!options_.first || event.timestamp >= *options_.first) &&
         (!options_.last || event.timestamp <= *options_.last);
}

bool EventStream::advance() {
  while (options_.order == Order::file ? next_in_file() : next_in_time()) {
    payload_threads_.apply(event_, names_);
    if (options_.order == Order::time && processor_known_ && has_one_clock_)
      running_.apply(event_, names_);
    if (wanted(event_)) return true;
  }
  return false;
}

EventStream::Run EventStream::open_next() {
  const auto [file, index] = plan_[opened_++];
  const auto& entry = files_[file].scan.buffers[index];
  if (options_.progress != nullptr) options_.progress->add(entry.size, entry.events);
  const auto end = entry.compressed() ? entry.filled : std::min(entry.size, entry.filled);
  return {file, index, first_event, end, 0, 0, {}, nullptr, 0, std::nullopt, 0, entry.follows_loss};
}

bool EventStream::step(Run& run) {
  const auto& all_damage = scan_of(run).damage;
  const auto found = all_damage.find(run.index);
  u32 at = run.next;
  if (found != all_damage.end())
    for (const auto& damage = found->second;
         run.damaged < damage.size() && damage[run.damaged].offset <= at; ++run.damaged) {
      at = damage[run.damaged].offset + damage[run.damaged].size;
      run.follows_loss = true;
    }
  return at < run.end && read(run, at);
}

// Reads the event at `offset`, from the bytes that are held, from a window, or from one that no
// event is too large for.
bool EventStream::read(Run& run, u32 offset) {
  const auto context = context_of(entry_of(run), scan_of(run));
  for (const u32 size : {u32{0}, window(), largest_window}) {
    if (size > 0) load(run, offset, size);
    if (!run.bytes || offset < run.base) continue;
    const auto read = read_event(run.bytes->bytes, offset - run.base, context, run.event);
    if (!read.ok) continue;
    run.next = run.base + read.next;
    run.event.offset = offset;
    run.event.file = run.file;
    if (!run.event.has_time) run.event.timestamp = run.time;
    if (options_.pointer_size != 0) run.event.pointer_size = static_cast<u8>(options_.pointer_size);
    // What is late by the clock comes where its buffer has it, and delays nothing behind it.
    const auto& entry = entry_of(run);
    run.time = run.event.timestamp > entry.latest_time ? std::max(run.time, entry.first_time)
                                                       : run.event.timestamp;
    return true;
  }
  return false;
}

void EventStream::load(Run& run, u32 offset, u32 size) {
  release(run);
  const auto& entry = entry_of(run);
  if (run.spilled && !load_window(run, *spill_, *run.spilled, offset, size)) {
    run.spilled.reset();
    spill_failed_ = true;
  }
  if (!entry.compressed()) {
    load_window(run, *files_[run.file].source, entry.offset, offset, size);
  } else if (!run.spilled) {
    run.bytes = load_buffer(*files_[run.file].source, entry, scan_of(run).compression);
    run.base = 0;
    run.end = static_cast<u32>(run.bytes->bytes.size());
  }
  held_ += run.bytes->bytes.size();
}

// Of the plain bytes that lie at `start` of `source`, those from `offset` on.
bool EventStream::load_window(Run& run, const core::ImageSource& source, u64 start, u32 offset,
                              u32 size) {
  auto window = std::make_shared<Buffer>();
  size = std::min(size, run.end - offset);
  const std::span bytes{window->storage.get(size), size};
  const bool ok = source.read_at(start + offset, bytes).has_value();
  if (ok) window->bytes = bytes;
  run.bytes = std::move(window);
  run.base = offset;
  return ok;
}

void EventStream::release(Run& run) {
  if (run.bytes) held_ -= run.bytes->bytes.size();
  run.bytes.reset();
}

// Without room for it the buffer is unpacked again.
void EventStream::spill(Run& run) {
  if (!entry_of(run).compressed() || run.spilled || spill_failed_) return;
  if (!spill_)
    if (auto file = core::TemporaryFile::create()) spill_ = std::move(*file);
  if (!spill_) return;
  const auto at = spill_->size();
  if (spill_->append(run.bytes->bytes)) run.spilled = at;
}

// Bytes to hold of each run.
u32 EventStream::window() const {
  const auto share = options_.largest_buffers / (heap_.size() + 1);
  const auto size = std::clamp<std::size_t>(share, least_window, largest_window);
  return static_cast<u32>(size) & ~(alignment - 1);
}

bool EventStream::next_in_file() {
  if (heap_.empty()) {
    if (opened_ == plan_.size()) return false;
    heap_.push_back(std::make_unique<Run>(open_next()));
    consumed_ = false;
  }
  auto& run = *heap_.front();
  while (!step(run)) {
    end(run, run.next);
    if (opened_ == plan_.size()) return false;
    run = open_next();
  }
  hand_out(run);
  return true;
}

bool EventStream::before(const Run& a, const Run& b) const {
  if (a.time != b.time) return a.time < b.time;
  const auto cpu_a = entry_of(a).processor;
  const auto cpu_b = entry_of(b).processor;
  return std::tie(cpu_a, a.file, a.index) < std::tie(cpu_b, b.file, b.index);
}

// What the heap has at its end is due late.
void EventStream::shrink(const Run& keep) {
  if (held_ <= options_.largest_buffers) return;
  for (auto run = heap_.rbegin(); run != heap_.rend(); ++run) {
    if (held_ <= options_.largest_buffers / 2) return;
    if (!(*run)->bytes || run->get() == &keep) continue;
    spill(**run);
    release(**run);
  }
}

// Opens every buffer whose first event may come before the first run's.
void EventStream::open_due() {
  while (opened_ < plan_.size()) {
    const auto [file, index] = plan_[opened_];
    if (!heap_.empty() && files_[file].scan.buffers[index].first_time > heap_.front()->time) return;
    auto run = std::make_unique<Run>(open_next());
    if (!step(*run)) {
      end(*run, run->next);
      continue;
    }
    const auto& kept = *run;
    heap_.push_back(std::move(run));
    std::push_heap(heap_.begin(), heap_.end(),
                   [&](const auto& a, const auto& b) { return before(*b, *a); });
    shrink(kept);
  }
}

void EventStream::hand_out(Run& run) {
  event_ = run.event;
  event_time_ = run.time;
  event_buffer_ = run.bytes;
  ++run.handed_out;
  const auto& entry = entry_of(run);
  processor_known_ = entry.processor_known;
  if (std::exchange(run.follows_loss, false)) running_.forget(entry.processor);
}

// Ends a run at `offset`. What the buffer had there when the trace was opened is a gap.
void EventStream::end(Run& run, u32 offset) {
  release(run);
  const auto& entry = entry_of(run);
  if (run.handed_out >= entry.events) return;
  const u32 from = entry.compressed() ? 0 : offset;
  unread_.push_back({.reason = Gap::Reason::unreadable,
                     .offset = entry.offset + from,
                     .length = entry.size - from,
                     .timestamp = run.handed_out > 0 ? run.time : entry.first_time,
                     .cpu = processor_of(entry, scan_of(run)),
                     .events = entry.events - run.handed_out,
                     .file = run.file});
  running_.forget(entry.processor);
  const auto* const gap = &unread_.back();
  const auto at =
      std::upper_bound(gaps_.begin() + static_cast<std::ptrdiff_t>(gaps_passed_), gaps_.end(), gap,
                       [this](const Gap* a, const Gap* b) { return comes_before(*a, *b); });
  gaps_.insert(at, gap);
}

void EventStream::end_first(u32 offset) {
  end(*heap_.front(), offset);
  std::swap(heap_.front(), heap_.back());
  heap_.pop_back();
  sift_down(heap_, [this](const Run& a, const Run& b) { return before(a, b); });
}

bool EventStream::next_in_time() {
  if (!consumed_) {
    if (step(*heap_.front()))
      sift_down(heap_, [this](const Run& a, const Run& b) { return before(a, b); });
    else
      end_first(heap_.front()->next);
    consumed_ = true;
  }
  open_due();
  // What cannot be read any more ends its run.
  while (!heap_.empty() && !heap_.front()->bytes &&
         !read(*heap_.front(), heap_.front()->event.offset))
    end_first(heap_.front()->event.offset);
  if (heap_.empty()) return false;
  auto& run = *heap_.front();
  shrink(run);
  hand_out(run);
  consumed_ = false;
  return true;
}

}  // namespace coldtrace::tracefile
