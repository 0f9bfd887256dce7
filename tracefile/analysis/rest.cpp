#include "coldtrace/trace_analysis/rest.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/ticks.hpp"

namespace coldtrace::trace_analysis {

void Rest::add_busy(i64 from, i64 to) {
  const auto ticks = ticks_between(from, to);
  add_ticks(busy_, ticks);
  busy_times_.add(static_cast<u64>(ticks));
}

// Nobody waits for a device that nobody asks for any more.
void Rest::add_idle(const IdleTime& idle) {
  const auto ticks = ticks_between(idle.from, idle.to);
  const auto length = clock_.to_duration(ticks);
  add_ticks(idle_, ticks);
  idle_times_.add(static_cast<u64>(ticks));
  const u64 spin_ups = idle.end ? 1 : 0;
  for (std::size_t i = 0; i < savings_.size(); ++i) {
    if (length <= policy_.timeouts[i]) continue;
    add_ticks(savings_[i].off, length - policy_.timeouts[i]);
    savings_[i].spin_ups += spin_ups;
  }
  if (length > policy_.break_even) {
    add_ticks(optimum_.off, length);
    optimum_.spin_ups += spin_ups;
  }
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

AtRest::AtRest(const tracefile::Clock& clock, const RestPolicy& policy, i64 network_window,
               Sink each)
    : clock_{clock},
      policy_{policy},
      network_window_{network_window},
      each_{std::move(each)},
      turns_{[this](const Turn& turn) { on_turn(turn); }} {}

void AtRest::begin(const Observed& observed) {
  observed_ = &observed;
  turns_.begin(observed);
}

Rest& AtRest::rest(const Device& device) {
  return devices_.try_emplace(device, clock_, policy_).first->second;
}

AtRest::Line& AtRest::line(const Device& device) {
  const auto known = lines_.find(device);
  if (known != lines_.end()) return known->second;
  rest(device);
  Line line{BusyTime{[this, device](const BusyTime::Interval& interval) {
              on_interval(device, interval);
            }},
            *observed_->first};
  return lines_.emplace(device, std::move(line)).first->second;
}

// Nothing is known of a time in which events may be missing, or a request may have been open.
void AtRest::add_gap(const Device& device, i64 from, i64 to, std::optional<RestEnd> end) {
  if (from >= to || observed_->losses.anywhere(from, to)) return;
  if (device.kind == Device::Kind::disk && disk_ != nullptr &&
      disk_->requests().is_doubtful(from, to))
    return;
  const IdleTime idle{from, to, end};
  rest(device).add_idle(idle);
  if (each_) each_(device, idle);
}

void AtRest::on_interval(const Device& device, const BusyTime::Interval& interval) {
  auto& line = lines_.at(device);
  const auto& [thread, process, file] = interval.cause;
  add_gap(device, line.reached, interval.from, RestEnd{thread, process, file, false});
  const auto to = std::min(interval.to, *observed_->last);  // of a window, which may reach beyond
  rest(device).add_busy(interval.from, to);
  line.reached = to;
}

void AtRest::on_request(const DiskIo::Row& row) {
  const auto& request = row.request;
  if (!request.disk) return;
  const Device device{Device::Kind::disk, *request.disk};
  if (disk_ != nullptr && disk_->disks().count(request.disk) == 0) return;  // beyond the most
  if (!request.begin) {
    line(device);
    return;
  }
  line(device).busy.add(std::max(*request.begin, *observed_->first), request.end.time,
                        {request.thread, nobody, row.file});
}

void AtRest::on_ready(const Readied& record) {
  turns_.on_ready(record);
  if (record.thread >= woken_in_dpc_.size())
    woken_in_dpc_.resize(std::size_t{record.thread} + 1, false);
  woken_in_dpc_[record.thread] = record.in_dpc;
}

void AtRest::end_chain(u16 cpu) {
  const auto chain = chains_.find(cpu);
  if (chain == chains_.end()) return;
  rest({Device::Kind::processor, cpu}).add_busy(chain->second.from, chain->second.to);
  chains_.erase(chain);
}

void AtRest::on_turn(const Turn& turn) {
  if (!turn.end) return;
  const Device device{Device::Kind::processor, turn.cpu};
  if (!observed_->population.threads()[turn.thread].idle_of) {
    const auto chain = chains_.find(turn.cpu);
    if (chain != chains_.end() && chain->second.to == turn.begin) {
      chain->second.to = *turn.end;
      return;
    }
    end_chain(turn.cpu);
    chains_[turn.cpu] = {turn.begin, *turn.end};
    return;
  }
  end_chain(turn.cpu);
  const auto next = turn.new_thread;
  const bool in_dpc = next < woken_in_dpc_.size() && woken_in_dpc_[next];
  const IdleTime idle{turn.begin, *turn.end, RestEnd{next, nobody, 0, in_dpc}};
  rest(device).add_idle(idle);
  if (each_) each_(device, idle);
}

void AtRest::add_transfer(i64 time, Index process) {
  const auto half = network_window_ / 2;
  i64 from = 0;
  i64 to = 0;
  if (__builtin_sub_overflow(time, half, &from) || __builtin_add_overflow(time, half, &to)) return;
  line({Device::Kind::network, 0})
      .busy.add(std::max(from, *observed_->first), to, {nobody, process, 0});
}

void AtRest::on_network_transfer(const NetworkTransfer& record) {
  add_transfer(record.moment.time, record.process);
}

void AtRest::on_network_end(const NetworkEnd& record) {
  if (record.bytes > 0) add_transfer(record.moment.time, nobody);
}

void AtRest::finish(const Observed& observed) {
  turns_.finish(observed);
  while (!chains_.empty()) end_chain(chains_.begin()->first);
  if (!observed.first) return;
  const auto last = *observed.last;
  elapsed_ = ticks_between(*observed.first, last);
  // Whether a request that has not ended keeps its disk busy, or its end is missing, nothing says.
  const auto open = disk_ == nullptr ? std::nullopt : disk_->requests().first_open();
  for (auto& [device, line] : lines_) {
    line.busy.finish();
    cut_ += line.busy.cut();
    const bool is_disk = device.kind == Device::Kind::disk;
    add_gap(device, line.reached, is_disk ? std::min(last, open.value_or(last)) : last,
            std::nullopt);
  }
}

}  // namespace coldtrace::trace_analysis
