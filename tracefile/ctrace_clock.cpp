#include "tracefile/ctrace_clock.hpp"

#include <algorithm>
#include <limits>

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

CtraceClock::CtraceClock(const std::vector<CalibrationPair>& pairs, u64 frequency,
                         core::FileTime start, u64 first_stamp, core::Findings& findings)
    : before_first_{frequency, ticks_per_second}, fastest_{before_first_} {
  const CycleRate nominal = before_first_;
  for (const auto& pair : pairs) {
    // Of an empty buffer that was closed at the same moment.
    if (!pieces_.empty() && pair.cycles == pieces_.back().cycles &&
        pair.file_time == pieces_.back().file_time)
      continue;
    if (!pieces_.empty() && pair.cycles <= pieces_.back().cycles) {
      findings.warning("clock-pair", pair.offset,
                       "stamp {} of a calibration pair is not above {}, that of the pair before",
                       pair.cycles, pieces_.back().cycles);
      continue;
    }
    if (!pieces_.empty()) {
      auto& last = pieces_.back();
      if (pair.file_time >= last.file_time) {
        last.rate = {pair.cycles - last.cycles, pair.file_time - last.file_time};
        last.measured = true;
        if (last.rate.ticks != 0 && faster(last.rate, fastest_)) fastest_ = last.rate;
      } else {
        findings.warning("clock-set-back", pair.offset,
                         "the system's clock was set back by {} units of 100 ns",
                         last.file_time - pair.file_time);
      }
    }
    pieces_.push_back({pair.cycles, pair.file_time, nominal, false});
    ++pairs_;
  }
  if (pieces_.empty()) {
    pieces_.push_back({first_stamp, start.ticks, nominal, false});
    return;
  }
  if (pieces_.front().measured) before_first_ = pieces_.front().rate;
  if (pieces_.size() > 1 && pieces_[pieces_.size() - 2].measured)
    pieces_.back().rate = pieces_[pieces_.size() - 2].rate;
}

CtraceClock::Time CtraceClock::to_time(u64 stamp, std::size_t& hint) const {
  const auto& first = pieces_.front();
  if (stamp < first.cycles) {
    // Rounded down as the others: the distance is rounded up.
    const auto cycles = first.cycles - stamp;
    const auto down = scale(cycles, before_first_);
    const bool rest = u128{cycles} * before_first_.ticks % before_first_.cycles != 0;
    const auto distance = down + (rest && down != std::numeric_limits<u64>::max() ? 1 : 0);
    return {first.file_time - std::min(distance, first.file_time), true};
  }
  const auto holds = [&](std::size_t at) {
    return pieces_[at].cycles <= stamp &&
           (at + 1 == pieces_.size() || stamp < pieces_[at + 1].cycles);
  };
  if (hint >= pieces_.size() || !holds(hint)) {
    if (hint + 1 < pieces_.size() && holds(hint + 1)) {
      ++hint;
    } else {
      const auto above =
          std::upper_bound(pieces_.begin(), pieces_.end(), stamp,
                           [](u64 value, const Piece& piece) { return value < piece.cycles; });
      hint = static_cast<std::size_t>(above - pieces_.begin()) - 1;
    }
  }
  const auto& piece = pieces_[hint];
  const auto since = scale(stamp - piece.cycles, piece.rate);
  u64 time = 0;
  if (__builtin_add_overflow(piece.file_time, since, &time)) time = std::numeric_limits<u64>::max();
  // A pair itself is exact, also the last one.
  return {time, !piece.measured && stamp != piece.cycles};
}

u64 CtraceClock::error_bound(CycleRate fastest) const {
  u64 largest = 0;
  for (const auto& piece : pieces_) {
    if (!piece.measured) continue;
    const auto least = scale(piece.rate.cycles, fastest);
    if (piece.rate.ticks > least) largest = std::max(largest, piece.rate.ticks - least);
  }
  return largest;
}

}  // namespace coldtrace::tracefile
