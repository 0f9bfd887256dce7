#include "tracefile/export/perfetto_schedule.hpp"

#include <algorithm>

#include "tracefile/export/perfetto_fields.hpp"
#include "tracefile/export/perfetto_tracks.hpp"

namespace coldtrace::trace_export {

namespace field = perfetto;
using protozero::pbf_writer;
using trace_analysis::ThreadState;

namespace {

// Perfetto knows the states up to DeferredReady. That of a thread that was swapped out with its
// process is near enough; one that cannot be is what nothing is known of.
constexpr u8 unknown_state = static_cast<u8>(ThreadState::initialized);

// The importer takes no event without a processor, nor one from 1024 on, and does not look at that
// of a ready event. Source: google/perfetto, etw_tokenizer.cc, etw_parser.cc.
constexpr u32 no_processor = 1023;

u8 state_of(const ChainedSwitch& change) {
  if (!change.old_state) return unknown_state;
  switch (*change.old_state) {
    case ThreadState::process_swapped:
      return static_cast<u8>(ThreadState::transition);
    case ThreadState::gate_wait:
      return static_cast<u8>(ThreadState::waiting);
    default:
      break;
  }
  const auto state = static_cast<u8>(*change.old_state);
  return state <= static_cast<u8>(ThreadState::deferred_ready) ? state : unknown_state;
}

}  // namespace

void PerfettoSchedule::add(const Ready& ready) {
  if (ready.time != tick_) {
    flush_tick();
    tick_ = ready.time;
  }
  readies_.push_back(ready);
}

void PerfettoSchedule::add(const ChainedSwitch& change) {
  // A break lies in the past, and Perfetto sorts it there: behind the switch to the thread.
  if (change.time < tick_) {
    write(change);
    return;
  }
  if (change.time != tick_) {
    flush_tick();
    tick_ = change.time;
  }
  switches_.push_back(change);
}

// Within one tick a thread leaves a processor before it comes to another one, and is made ready
// when it has left.
void PerfettoSchedule::flush_tick() {
  while (!switches_.empty()) take_first_switch();
  for (const auto& ready : readies_) write(ready);
  readies_.clear();
}

void PerfettoSchedule::take_first_switch() {
  constexpr std::size_t most_ordered = 256;
  auto first = switches_.begin();
  if (switches_.size() > 1 && switches_.size() <= most_ordered) {
    const auto is_first = [&](const ChainedSwitch& change) {
      for (const auto& other : switches_) {
        if (&other == &change) break;
        if (other.cpu == change.cpu) return false;
      }
      return std::none_of(switches_.begin(), switches_.end(), [&](const ChainedSwitch& other) {
        return other.cpu != change.cpu && other.old_id == change.new_id && change.new_id != 0 &&
               change.new_id != SwitchChain::lost_id && change.new_id != SwitchChain::not_shown_id;
      });
    };
    const auto found = std::find_if(switches_.begin(), switches_.end(), is_first);
    if (found != switches_.end()) first = found;
  }
  write(*first);
  switches_.erase(first);
}

template <class Fill>
void PerfettoSchedule::add_event(Fill fill) {
  {
    pbf_writer bundle{events_};
    pbf_writer event{bundle, field::etw::event};
    fill(event);
  }
  if (events_.size() >= events_together) flush_events();
}

void PerfettoSchedule::flush_events() {
  if (events_.empty()) return;
  packets_.add(
      [&](pbf_writer& packet) { packet.add_message(field::trace_packet::etw_events, events_); });
  events_.clear();
}

void PerfettoSchedule::write(const ChainedSwitch& change) {
  namespace e = field::etw;
  add_event([&](pbf_writer& event) {
    event.add_uint64(e::timestamp, static_cast<u64>(change.time));
    event.add_uint32(e::cpu, change.cpu);
    event.add_uint32(e::thread_id, change.old_id);
    pbf_writer fields{event, e::c_switch};
    // An id that is missing would be somebody "anonymized", not the idle thread.
    fields.add_uint32(e::switches::new_thread_id, change.new_id);
    fields.add_uint32(e::switches::old_thread_id, change.old_id);
    if (change.new_priority)
      fields.add_sint32(e::switches::new_thread_priority, *change.new_priority);
    if (change.old_priority)
      fields.add_sint32(e::switches::old_thread_priority, *change.old_priority);
    if (change.wait_reason)
      fields.add_int32(e::switches::old_thread_wait_reason_int, *change.wait_reason);
    fields.add_sint32(e::switches::old_thread_state_int, state_of(change));
  });
  count_busy(change);
}

void PerfettoSchedule::write(const Ready& ready) {
  namespace e = field::etw;
  add_event([&](pbf_writer& event) {
    event.add_uint64(e::timestamp, static_cast<u64>(ready.time));
    event.add_uint32(e::cpu, ready.cpu.value_or(no_processor));
    event.add_uint32(e::thread_id, ready.waker);
    pbf_writer fields{event, e::ready_thread};
    fields.add_uint32(e::ready::thread_id, ready.id);
    if (ready.adjustment) {
      fields.add_sint32(e::ready::adjust_increment, ready.adjustment->increment);
      fields.add_int32(e::ready::adjust_reason_int, static_cast<i32>(ready.adjustment->reason));
    }
    if (ready.in_dpc) fields.add_int32(e::ready::flag_int, 1);
  });
}

// Processors whose thread is known and not the idle one.
void PerfettoSchedule::count_busy(const ChainedSwitch& change) {
  const auto is_busy = [](u32 id) { return id != 0 && id != SwitchChain::lost_id; };
  if (change.cpu >= busy_at_.size()) busy_at_.resize(std::size_t{change.cpu} + 1);
  const bool was = is_busy(busy_at_[change.cpu]), is = is_busy(change.new_id);
  busy_at_[change.cpu] = change.new_id;
  if (was == is) return;
  busy_ += is ? 1U : ~u64{0};
  has_busy_ = true;
  count(packets_, family(Family::busy, 0), change.time, static_cast<i64>(busy_));
}

void PerfettoSchedule::flush() {
  flush_tick();
  flush_events();
}

void PerfettoSchedule::describe_counter_of_processors() {
  if (has_busy_) describe_counter(packets_, family(Family::busy, 0), "processors in use");
}

}  // namespace coldtrace::trace_export
