#include "coldtrace/tracefile/event_stream.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "tracefile/etl/sift_down.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u8 thread_group = 0x05;
constexpr u8 context_switch = 36;
constexpr u32 first_event = BufferHeader::size_on_disk;

bool lacks_thread(const Event& event) {
  return event.header_type == static_cast<u8>(HeaderType::perfinfo32) ||
         event.header_type == static_cast<u8>(HeaderType::perfinfo64);
}

}  // namespace

void RunningThreads::apply(Event& event, const NameTables& names) {
  if (!event.cpu || !event.kernel_group) return;
  if (*event.cpu >= processors_.size()) processors_.resize(std::size_t{*event.cpu} + 1);
  auto& running = processors_[*event.cpu];
  const auto process_of = [&](u32 tid) { return names.find_process_of(tid, event.name_time()); };
  const auto set = [&] {
    event.tid = running.tid;
    event.pid = running.pid;
    if (event.tid) event.thread_source = ThreadSource::context_switch;
  };
  if (*event.kernel_group == thread_group && event.opcode == context_switch) {
    const auto ids = core::Fields<8>::at(event.payload, 0);
    if (!ids) return;
    const auto old_tid = ids->get<u32, 4>();
    if (running.tid != old_tid) running = {old_tid, process_of(old_tid)};
    if (!event.tid) set();
    const auto new_tid = ids->get<u32, 0>();
    running = {new_tid, process_of(new_tid)};
    return;
  }
  if (!event.tid && !event.pid && lacks_thread(event)) set();
}

EventStream::EventStream(const core::ImageSource& source, const BufferScan& scan,
                         const NameTables& names, const StreamOptions& options)
    : source_{source}, scan_{scan}, names_{names}, options_{options} {
  plan_buffers();
  plan_gaps();
}

void EventStream::plan_buffers() {
  for (u32 i = 0; i < scan_.buffers.size(); ++i) {
    const auto& entry = scan_.buffers[i];
    if (entry.events == 0) continue;
    if (options_.first && entry.last_time < *options_.first) continue;
    if (options_.last && entry.first_time > *options_.last) continue;
    plan_.push_back(i);
  }
  if (options_.order == Order::file) return;
  const auto key = [&](u32 index) {
    const auto& entry = scan_.buffers[index];
    return std::tuple{entry.first_time, entry.processor, index};
  };
  std::sort(plan_.begin(), plan_.end(), [&](u32 a, u32 b) { return key(a) < key(b); });
}

void EventStream::plan_gaps() {
  for (const auto& gap : scan_.gaps) gaps_.push_back(&gap);
  if (options_.order == Order::file) {
    std::stable_sort(gaps_.begin(), gaps_.end(),
                     [](const Gap* a, const Gap* b) { return a->offset < b->offset; });
    return;
  }
  // Those whose time is not known come last.
  std::stable_sort(gaps_.begin(), gaps_.end(), [](const Gap* a, const Gap* b) {
    return std::tuple{!a->timestamp, a->timestamp.value_or(0), a->offset} <
           std::tuple{!b->timestamp, b->timestamp.value_or(0), b->offset};
  });
}

// Whether the gap comes before event_. What was lost came before its buffer's events, damage
// comes after the events that could be read.
bool EventStream::is_due(const Gap& gap) const {
  const bool loss = gap.length == 0;
  if (options_.order == Order::file) {
    if (loss) return event_.buffer_offset >= gap.offset;
    const auto& entry = scan_.buffers[heap_.front()->index];
    return place_of(context_of(entry, scan_.header), event_.offset) > gap.offset;
  }
  if (!gap.timestamp) return false;
  return loss ? event_.timestamp >= *gap.timestamp : event_.timestamp > *gap.timestamp;
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
    if (options_.order == Order::time) running_.apply(event_, names_);
    if (wanted(event_)) return true;
  }
  return false;
}

bool EventStream::step(Run& run) {
  if (!run.walker.next()) return false;
  run.offset = run.walker.event().offset;
  run.time = run.walker.event().timestamp;
  return true;
}

void EventStream::load(Run& run) {
  const auto& entry = scan_.buffers[run.index];
  run.buffer = load_buffer(source_, entry, scan_.compression);
  held_ += run.buffer->bytes.size();
  run.walker = BufferWalker{run.buffer->bytes, context_of(entry, scan_.header), run.offset,
                            OnDamage::pass, options_.pointer_size};
}

bool EventStream::next_in_file() {
  if (heap_.empty()) {
    heap_.push_back(std::make_unique<Run>());
    consumed_ = false;
  }
  auto& run = *heap_.front();
  while (!run.buffer || !step(run)) {
    if (opened_ == plan_.size()) return false;
    run.index = plan_[opened_++];
    run.offset = first_event;
    load(run);
  }
  event_ = run.walker.event();
  event_buffer_ = run.buffer;
  return true;
}

bool EventStream::before(const Run& a, const Run& b) const {
  if (a.time != b.time) return a.time < b.time;
  const auto cpu_a = scan_.buffers[a.index].processor;
  const auto cpu_b = scan_.buffers[b.index].processor;
  return std::tie(cpu_a, a.index) < std::tie(cpu_b, b.index);
}

void EventStream::drop_latest(const Run& keep) {
  while (held_ > options_.largest_buffers) {
    Run* latest = nullptr;
    for (const auto& run : heap_)
      if (run->buffer && run.get() != &keep && (latest == nullptr || before(*latest, *run)))
        latest = run.get();
    if (latest == nullptr) return;
    held_ -= latest->buffer->bytes.size();
    latest->buffer.reset();
  }
}

// Opens every buffer whose first event may come before the first run's.
void EventStream::open_due() {
  while (opened_ < plan_.size()) {
    const auto index = plan_[opened_];
    if (!heap_.empty() && scan_.buffers[index].first_time > heap_.front()->time) return;
    ++opened_;
    auto run = std::make_unique<Run>();
    run->index = index;
    run->offset = first_event;
    load(*run);
    if (!step(*run)) {
      held_ -= run->buffer->bytes.size();
      continue;
    }
    const auto& kept = *run;
    heap_.push_back(std::move(run));
    std::push_heap(heap_.begin(), heap_.end(),
                   [&](const auto& a, const auto& b) { return before(*b, *a); });
    drop_latest(kept);
  }
}

bool EventStream::next_in_time() {
  if (!consumed_) {
    auto& run = *heap_.front();
    if (!step(run)) {
      held_ -= run.buffer->bytes.size();
      std::swap(heap_.front(), heap_.back());
      heap_.pop_back();
    }
    sift_down(heap_, [this](const Run& a, const Run& b) { return before(a, b); });
    consumed_ = true;
  }
  open_due();
  if (heap_.empty()) return false;
  auto& run = *heap_.front();
  if (!run.buffer) {
    load(run);
    step(run);
    drop_latest(run);
  }
  event_ = run.walker.event();
  event_buffer_ = run.buffer;
  consumed_ = false;
  return true;
}

}  // namespace coldtrace::tracefile
