#include "coldtrace/tracefile/ctrace/ctrace_clock.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "coldtrace/core/text.hpp"

namespace coldtrace::tracefile {
namespace {

__extension__ typedef unsigned __int128 u128;

constexpr u64 ticks_per_second = 10'000'000;

// cycles * ticks / rate.cycles, rounded down and no more than 64 bits hold.
u64 scale(u64 cycles, CycleRate rate) {
  u64 product = 0;
  if (!__builtin_mul_overflow(cycles, rate.ticks, &product)) return product / rate.cycles;
  const auto exact = u128{cycles} * rate.ticks / rate.cycles;
  return exact > std::numeric_limits<u64>::max() ? std::numeric_limits<u64>::max()
                                                 : static_cast<u64>(exact);
}

bool faster(CycleRate a, CycleRate b) {
  return u128{a.cycles} * b.ticks > u128{b.cycles} * a.ticks;
}

}  // namespace

CtraceClock::CtraceClock(u64 frequency, std::size_t parts)
    : pieces_{std::max(most_in_memory / parts, least_in_memory)},
      nominal_{frequency, ticks_per_second},
      before_first_{nominal_},
      fastest_{nominal_} {}

void CtraceClock::add(const CalibrationPair& pair, core::Findings& findings) {
  if (last_) {
    // Of an empty buffer that was closed at the same moment.
    if (pair.cycles == last_->cycles && pair.file_time == last_->file_time) return;
    if (pair.cycles <= last_->cycles) {
      findings.warning(
          "clock-pair", pair.offset,
          "stamp {} of a calibration pair is not above {}, the stamp of the pair before",
          pair.cycles, last_->cycles);
      return;
    }
    if (pair.file_time >= last_->file_time) {
      last_->rate = {pair.cycles - last_->cycles, pair.file_time - last_->file_time};
      last_->measured = true;
      if (last_->rate.ticks != 0 && faster(last_->rate, fastest_)) fastest_ = last_->rate;
    } else {
      last_->rate = nominal_;
      findings.warning("clock-set-back", pair.offset,
                       "the system's clock was set back by {} of 100 ns",
                       core::counted(last_->file_time - pair.file_time, "unit", "units"));
    }
    if (pieces_.empty()) first_ = *last_;
    pieces_.push_back(*last_);
  } else {
    first_offset_ = pair.offset;
  }
  // The last piece goes on at the rate of the one before it.
  last_ = Piece{pair.cycles, pair.file_time, last_ && last_->measured ? last_->rate : nominal_,
                false, pair.offset};
  ++pairs_;
}

std::optional<CalibrationPair> CtraceClock::pair_at(u64 index) const {
  const auto piece = index == pieces_.size() ? last_ : pieces_.at(index);
  if (!piece || index >= pairs_) return std::nullopt;
  return CalibrationPair{piece->cycles, piece->file_time, piece->offset};
}

CtraceClock CtraceClock::merge(std::span<const Source> sources, u64 frequency, std::size_t parts) {
  struct Next {
    CalibrationPair pair;
    std::size_t source;
    u64 index;
    bool operator<(const Next& other) const {
      return std::tie(other.pair.cycles, other.pair.file_time, other.source) <
             std::tie(pair.cycles, pair.file_time, source);
    }
  };
  std::priority_queue<Next> nexts;
  const auto add_next = [&](std::size_t source, u64 index) {
    if (const auto pair = sources[source].clock->pair_at(index)) nexts.push({*pair, source, index});
  };
  for (std::size_t i = 0; i < sources.size(); ++i) add_next(i, 0);
  CtraceClock merged{frequency, parts};
  core::Findings told;  // of each file, when it was read
  std::optional<Next> before;
  while (!nexts.empty()) {
    const auto next = nexts.top();
    nexts.pop();
    const bool crosses = before && before->source != next.source;
    merged.add(next.pair, crosses ? *sources[next.source].findings : told);
    before = next;
    add_next(next.source, next.index + 1);
  }
  return merged;
}

void CtraceClock::finish(core::FileTime start, u64 first_stamp) {
  if (!last_) last_ = Piece{first_stamp, start.ticks, nominal_, false, 0};
  if (pieces_.empty()) first_ = *last_;
  pieces_.push_back(*last_);
  last_.reset();
  if (first_.measured) before_first_ = first_.rate;
}

bool CtraceClock::load(u64 index, Cursor& cursor) const {
  const auto piece = pieces_.at(index);
  if (!piece) return false;
  const auto next = pieces_.at(index + 1);
  cursor.piece_ = *piece;
  cursor.index_ = index;
  cursor.is_last_ = !next;
  cursor.end_ = next ? next->cycles : 0;
  return true;
}

// Makes the cursor's piece the last one that begins at `stamp` or before it, which the first does.
void CtraceClock::seek(u64 stamp, Cursor& cursor) const {
  const auto holds = [&] {
    return cursor.piece_.cycles <= stamp && (cursor.is_last_ || stamp < cursor.end_);
  };
  if (holds()) return;
  if (stamp >= cursor.end_ && load(cursor.index_ + 1, cursor) && holds()) return;
  u64 low = 0;
  u64 high = pieces_.size();
  while (high - low > 1) {
    const u64 middle = low + (high - low) / 2;
    const auto piece = pieces_.at(middle);
    if (piece && piece->cycles <= stamp)
      low = middle;
    else
      high = middle;
  }
  if (load(low, cursor)) return;
  cursor.piece_ = first_;
  cursor.piece_.measured = false;
}

CtraceClock::Time CtraceClock::to_time(u64 stamp, Cursor& cursor) const {
  if (stamp < first_.cycles) {
    // Rounded down as the others: the distance is rounded up.
    const auto cycles = first_.cycles - stamp;
    const auto down = scale(cycles, before_first_);
    const bool rest = u128{cycles} * before_first_.ticks % before_first_.cycles != 0;
    const auto distance = down + (rest && down != std::numeric_limits<u64>::max() ? 1 : 0);
    return {first_.file_time - std::min(distance, first_.file_time), true};
  }
  seek(stamp, cursor);
  const auto& piece = cursor.piece_;
  const auto since = scale(stamp - piece.cycles, piece.rate);
  u64 time = 0;
  if (__builtin_add_overflow(piece.file_time, since, &time)) time = std::numeric_limits<u64>::max();
  // A pair itself is exact, also the last one.
  return {time, pairs_ == 0 || (!piece.measured && stamp != piece.cycles)};
}

std::optional<u64> CtraceClock::error_bound(CycleRate fastest) const {
  std::optional<u64> largest;
  for (u64 i = 0; i < pieces_.size(); ++i) {
    const auto piece = pieces_.at(i);
    if (!piece || !piece->measured) continue;
    const auto least = scale(piece->rate.cycles, fastest);
    largest = std::max(largest.value_or(0), piece->rate.ticks - std::min(piece->rate.ticks, least));
  }
  return largest;
}

}  // namespace coldtrace::tracefile
