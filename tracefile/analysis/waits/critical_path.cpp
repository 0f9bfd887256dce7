#include "coldtrace/trace_analysis/waits/critical_path.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {
namespace {

constexpr i64 ever = std::numeric_limits<i64>::min();
constexpr std::size_t most_interrupts = std::size_t{1} << 18;  // of a processor

}  // namespace

std::string_view to_string(Hop::Kind kind) {
  using K = Hop::Kind;
  switch (kind) {
    case K::running:
      return "running";
    case K::ready:
      return "ready";
    case K::preempted:
      return "preempted";
    case K::interrupt:
      return "interrupt";
    case K::waiting:
      return "waiting";
    case K::off:
      return "off";
    case K::swapped:
      return "swapped";
    case K::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view to_string(Hop::End end) {
  using E = Hop::End;
  switch (end) {
    case E::path:
      return "path";
    case E::switch_in:
      return "switch_in";
    case E::switch_out:
      return "switch_out";
    case E::made_ready:
      return "made_ready";
    case E::thread_start:
      return "thread_start";
  }
  return "path";
}

CriticalPath::Kept::Kept(const Turn& turn)
    : begin{turn.begin},
      end_time{turn.end.value_or(0)},
      left_time{turn.left.value_or(0)},
      ready_time{turn.readied.value_or(0)},
      buffer{turn.place.buffer},
      end_buffer{turn.ended_at.buffer},
      ready_buffer{turn.ready_event.buffer},
      offset{turn.place.offset},
      end_offset{turn.ended_at.offset},
      ready_offset{turn.ready_event.offset},
      thread{turn.thread},
      waker{turn.waker},
      cpu{turn.cpu},
      readied_on{turn.readied_on},
      wait_reason{turn.wait_reason},
      before{turn.before},
      has_end{turn.end.has_value()},
      has_left{turn.left.has_value()},
      is_readied{turn.readied.has_value()},
      woken_in_dpc{turn.woken_in_dpc} {
  static_assert(sizeof(Kept) <= 88, "there are most_turns of them");
}

CriticalPath::CriticalPath(i64 from)
    : from_{from}, turns_{[this](const Turn& turn) { keep(turn); }} {}

void CriticalPath::begin(const Observed& observed) {
  population_ = &observed.population;
  turns_.begin(observed);
}

void CriticalPath::keep(const Turn& turn) {
  if (turn.end && *turn.end < from_) return;
  if (kept_.size() == most_turns) {
    const auto& oldest = kept_.front();
    given_up_before_ = std::max(
        {given_up_before_.value_or(from_), kept_[1].begin, oldest.end().value_or(oldest.begin)});
    kept_.pop_front();
  }
  kept_.emplace_back(turn);
}

void CriticalPath::on_interruption(const Interruption& record) {
  // What an ISR makes ready it leaves to a DPC.
  if (!record.moment.cpu || record.moment.time < from_ || record.routine.kind == Service::Kind::isr)
    return;
  auto& kept = grown(by_cpu_, *record.moment.cpu);
  if (kept.size() == most_interrupts) {
    constexpr auto half = most_interrupts / 2;
    kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(half));
    interrupts_given_up_ += half;
  }
  kept.push_back({record.begin, record.moment.time, record.routine});
}

void CriticalPath::finish(const Observed& observed) {
  turns_.finish(observed);
  const auto end = observed.last.value_or(0);
  const auto threads = observed.population.threads().size();
  runs_at_end_.resize(threads);
  for (Index i = 0; i < threads; ++i) {
    runs_at_end_[i] = turns_.standing(i).where == Standing::Where::running;
    if (const auto absence = turns_.absence_at_end(i, end)) keep(*absence);
  }
  by_thread_.resize(kept_.size());
  std::iota(by_thread_.begin(), by_thread_.end(), 0);
  std::ranges::sort(by_thread_, {}, [&](u32 turn) {
    return std::tuple{kept_[turn].thread, kept_[turn].begin, turn};
  });
}

std::span<const u32> CriticalPath::turns_of(Index thread) const {
  const auto thread_of = [&](u32 turn) { return kept_[turn].thread; };
  return {std::ranges::lower_bound(by_thread_, thread, {}, thread_of),
          std::ranges::upper_bound(by_thread_, thread, {}, thread_of)};
}

// Times are those of the events, which damage may have in any order: a span never begins after the
// moment it is asked for.
CriticalPath::Span CriticalPath::before(Index thread, i64 time) const {
  const auto turns = turns_of(thread);
  const auto next =
      std::ranges::partition_point(turns, [&](u32 turn) { return kept_[turn].begin < time; });
  const auto* last = next == turns.begin() ? nullptr : &kept_[*(next - 1)];
  if (last != nullptr) {
    const bool runs =
        last->end() ? *last->end() >= time : next == turns.end() && runs_at_end_[thread];
    if (runs) return {Hop::Kind::running, last->begin, Hop::End::switch_in, last->place(), last};
    if (!last->end())
      return {Hop::Kind::unknown, last->begin, Hop::End::switch_in, last->place(), last};
  }
  if (next != turns.end()) return absence(kept_[*next], last, time);
  Span span;
  span.since = last != nullptr ? *last->end() : ever;
  if (last != nullptr) {
    span.start = Hop::End::switch_out;
    span.start_event = last->ended_at();
  }
  return span;
}

// What a thread did between two turns, or before its first one.
CriticalPath::Span CriticalPath::absence(const Kept& next, const Kept* last, i64 time) {
  using K = Hop::Kind;
  const i64 earliest = last != nullptr ? *last->end() : ever;
  Span span;
  span.turn = &next;
  span.since = std::max(earliest, next.left().value_or(ever));
  if (last != nullptr) {
    span.start = Hop::End::switch_out;
    span.start_event = last->ended_at();
  }
  if (next.readied() && *next.readied() < time && *next.readied() >= span.since &&
      next.before != Before::unknown) {
    span.kind = K::ready;
    span.since = *next.readied();
    span.start = Hop::End::made_ready;
    span.start_event = next.ready_event();
    return span;
  }
  if (next.left() && *next.left() >= time) {
    span.since = earliest;
    span.unborn = next.before == Before::created;
    return span;
  }
  switch (next.before) {
    case Before::waiting:
      span.kind = K::waiting;
      break;
    case Before::created:
      span.kind = next.readied() ? K::waiting : K::ready;
      span.start = Hop::End::thread_start;
      break;
    case Before::ready:
      span.kind = K::preempted;
      break;
    case Before::off:
      span.kind = K::off;
      break;
    case Before::swapped:
      span.kind = K::swapped;
      break;
    case Before::first:
    case Before::unknown:
      span.since = earliest;
      break;
  }
  return span;
}

std::optional<Service> CriticalPath::interrupter(const Kept& turn) const {
  constexpr std::ptrdiff_t most_nested = 64;
  const auto cpu = turn.readied_on;
  if (!cpu || *cpu >= by_cpu_.size() || !turn.readied()) return std::nullopt;
  const auto& all = by_cpu_[*cpu];
  auto one = std::ranges::lower_bound(all, *turn.readied(), {}, &Interrupt::end);
  // The innermost comes first.
  const auto stop = all.end() - one > most_nested ? one + most_nested : all.end();
  for (; one != stop; ++one)
    if (one->begin <= *turn.readied()) return one->routine;
  return std::nullopt;
}

std::vector<Hop> CriticalPath::find(Index thread, i64 from, i64 to) const {
  // Whose history is walked, and how far.
  struct Walk {
    Index thread;
    i64 bound;
    Hop::End bound_end;  // what happened at the bound
    std::optional<Place> bound_event;
  };
  const i64 known = std::max(from, given_up_before_.value_or(from));
  std::vector<Walk> walks{{thread, known, Hop::End::path, std::nullopt}};
  std::vector<Hop> hops;
  std::size_t creators = 0;  // one behind the other at one moment
  i64 time = to;
  auto end = Hop::End::path;
  std::optional<Place> event;
  while (time > known) {
    while (walks.back().bound >= time) {
      end = walks.back().bound_end;
      event = walks.back().bound_event;
      walks.pop_back();
    }
    auto& walk = walks.back();
    const auto span = before(walk.thread, time);
    const auto since = std::max(span.since, walk.bound);
    const auto waits = [&](Index who) {
      return std::ranges::any_of(walks, [&](const Walk& one) { return one.thread == who; });
    };
    if (span.unborn) {
      const auto& born = population_->threads()[walk.thread];
      if (born.creator != nobody && !waits(born.creator) && ++creators < most_depth) {
        walk.thread = born.creator;
        end = Hop::End::thread_start;
        event = born.life.started_at;
        continue;
      }
    }
    const auto* turn = span.turn;
    if (span.kind == Hop::Kind::waiting && time == turn->readied()) {
      end = Hop::End::made_ready;
      event = turn->ready_event();
    }
    if (span.kind == Hop::Kind::waiting && turn->waker != nobody && !turn->woken_in_dpc &&
        walks.size() < most_depth && !waits(turn->waker)) {
      const bool whole = since == span.since;
      walks.push_back({turn->waker, since, whole ? span.start : walk.bound_end,
                       whole ? span.start_event : walk.bound_event});
      continue;
    }
    Hop hop{walk.thread, span.kind, since, time, end, event};
    hop.depth = static_cast<u32>(walks.size() - 1);
    if (span.kind == Hop::Kind::running) hop.cpu = turn->cpu;
    if (span.kind == Hop::Kind::waiting) {
      hop.wait_reason = turn->wait_reason;
      if (turn->woken_in_dpc) {
        hop.kind = Hop::Kind::interrupt;
        hop.interrupter = interrupter(*turn);
      }
    }
    hops.push_back(hop);
    time = since;
    creators = 0;
    end = span.start;
    event = span.start_event;
    if (end == Hop::End::thread_start) event = population_->threads()[walk.thread].life.started_at;
  }
  if (from < known) {
    Hop given_up{thread, Hop::Kind::unknown, from, std::min(known, to), end, event};
    hops.push_back(given_up);
  }
  std::ranges::reverse(hops);
  return hops;
}

}  // namespace coldtrace::trace_analysis
