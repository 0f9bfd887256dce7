#include "coldtrace/trace_analysis/requests/rest.hpp"

#include <algorithm>
#include <functional>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

void Rest::add_busy(i64 from, i64 to) {
  const auto ticks = ticks_between(from, to);
  add_ticks(busy_, ticks);
  busy_times_.add(static_cast<u64>(ticks));
}

void RestSaving::add(i64 ticks, std::optional<i64> spin_up) {
  add_ticks(idle, ticks);
  ++times;
  if (!spin_up) return;
  ++spin_ups;
  add_ticks(waiting, *spin_up);
}

i64 RestSaving::off(const tracefile::Clock& clock, i64 timeout) const {
  i64 waited = 0;
  if (__builtin_mul_overflow(static_cast<i64>(times), timeout, &waited)) return 0;
  return std::max<i64>(0, clock.to_duration(idle) - waited);
}

// Nobody waits for a device that nobody asks for any more.
void Rest::add_idle(const IdleTime& idle) {
  const auto ticks = ticks_between(idle.from, idle.to);
  const auto length = clock_.to_duration(ticks);
  add_ticks(idle_, ticks);
  idle_times_.add(static_cast<u64>(ticks));
  const auto spin_up = idle.end ? std::optional{policy_.spin_up} : std::nullopt;
  for (std::size_t i = 0; i < savings_.size(); ++i)
    if (length > policy_.timeouts[i]) savings_[i].add(ticks, spin_up);
  if (length > policy_.break_even) optimum_.add(ticks, spin_up);
  if (idle.end) {
    auto& ended = ended_[{idle.end->thread, idle.end->process}];
    ++ended.count;
    add_ticks(ended.time, ticks);
  }
  const auto place = std::upper_bound(
      longest_.begin(), longest_.end(), ticks,
      [](i64 one, const IdleTime& other) { return one > ticks_between(other.from, other.to); });
  if (place == longest_.end() && longest_.size() == most_longest) return;
  longest_.insert(place, idle);
  if (longest_.size() > most_longest) longest_.pop_back();
}

std::vector<Rest::Ender> Rest::ended(RowOrder order) const {
  std::vector<Ender> enders{ended_.begin(), ended_.end()};
  std::ranges::stable_sort(enders, std::greater{}, [order](const Ender& ender) {
    const auto& [count, time] = ender.second;
    return order == RowOrder::count ? static_cast<i64>(count) : time;
  });
  return enders;
}

AtRest::AtRest(core::Borrowed<tracefile::Clock> clock, core::Borrowed<RestPolicy> policy,
               i64 network_window, Sink each)
    : clock_{clock.get()},
      policy_{policy.get()},
      network_window_{network_window},
      each_{std::move(each)},
      turns_{[this](const Turn& turn) { on_turn(turn); }},
      network_{[this](const BusyTime::Interval& interval) {
        on_interval({Device::Kind::network, 0}, interval);
      }} {}

void AtRest::begin(const Observed& observed) {
  observed_ = &observed;
  turns_.begin(observed);
}

Rest& AtRest::rest(const Device& device) {
  return devices_.try_emplace(device, clock_, policy_).first->second;
}

void AtRest::add_idle(const Device& device, const IdleTime& idle) {
  rest(device).add_idle(idle);
  if (each_) each_(device, idle);
}

// Nothing is known of a time in which events may be missing, or a request may have been open.
void AtRest::add_gap(const Device& device, i64 from, i64 to, std::optional<RestEnd> end) {
  if (from >= to || observed_->losses.anywhere(from, to)) return;
  if (device.kind == Device::Kind::disk && disk_ != nullptr &&
      disk_->requests().is_uncertain(from, to))
    return;
  add_idle(device, {from, to, end});
}

void AtRest::on_interval(const Device& device, const BusyTime::Interval& interval) {
  auto& reached = reached_.try_emplace(device, *observed_->first).first->second;
  const auto& [thread, process, file] = interval.cause;
  add_gap(device, reached, interval.from, RestEnd{thread, process, file, false});
  const auto to = std::min(interval.to, *observed_->last);  // of a window, which may reach beyond
  rest(device).add_busy(interval.from, to);
  reached = to;
}

void AtRest::add_disk_busy(u32 disk, const BusyTime::Interval& interval) {
  on_interval({Device::Kind::disk, disk}, interval);
}

void AtRest::end_chain(u16 cpu) {
  const auto chain = chains_.find(cpu);
  if (chain == chains_.end()) return;
  rest({Device::Kind::processor, cpu}).add_busy(chain->second.from, chain->second.to);
  chains_.erase(chain);
}

// Why the thread ran that ended an idle time, the turn of that thread says.
void AtRest::on_turn(const Turn& turn) {
  const Device device{Device::Kind::processor, turn.cpu};
  if (auto rested = rested_.extract(turn.cpu)) {
    rested.mapped().end = RestEnd{turn.thread, nobody, 0, turn.woken_in_dpc};
    add_idle(device, rested.mapped());
  }
  if (!turn.end) return;
  if (observed_->population.threads()[turn.thread].idle_of) {
    end_chain(turn.cpu);
    rested_[turn.cpu] = {turn.begin, *turn.end, std::nullopt};
    return;
  }
  const auto chain = chains_.find(turn.cpu);
  if (chain != chains_.end() && chain->second.to == turn.begin) {
    chain->second.to = *turn.end;
    return;
  }
  end_chain(turn.cpu);
  chains_[turn.cpu] = {turn.begin, *turn.end};
}

void AtRest::add_transfer(const NetworkTransfer& record) {
  const auto half = network_window_ / 2;
  i64 from = 0;
  i64 to = 0;
  if (__builtin_sub_overflow(record.moment.time, half, &from) ||
      __builtin_add_overflow(record.moment.time, half, &to))
    return;
  network_.add(std::max(from, *observed_->first), to, {nobody, record.process, 0});
}

void AtRest::finish(const Observed& observed) {
  turns_.finish(observed);
  while (!chains_.empty()) end_chain(chains_.begin()->first);
  if (!observed.first) return;
  const auto first = *observed.first;
  const auto last = *observed.last;
  elapsed_ = ticks_between(first, last);
  network_.finish();
  // Whether a request that has not ended keeps its disk busy, or its end is missing, nothing says.
  auto last_of_disks = last;
  if (disk_ != nullptr) {
    for (const auto& [number, disk] : disk_->disks())
      if (number && disk.sums.count() > 0)
        reached_.try_emplace({Device::Kind::disk, *number}, first);
    last_of_disks = std::min(last, disk_->requests().first_open().value_or(last));
  }
  for (const auto& [device, reached] : reached_) {
    rest(device);
    add_gap(device, reached, device.kind == Device::Kind::disk ? last_of_disks : last,
            std::nullopt);
  }
}

}  // namespace coldtrace::trace_analysis
