#include "coldtrace/ntfs/snapshot-file/snapshot_names.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coldtrace/core/checked.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr State state_at(std::size_t i) {
  return static_cast<State>(i);
}

void append_piece(std::string& text, std::string_view piece) {
  text += fmt::format("{}{}", text.empty() ? "" : ", ", piece);
}

}  // namespace

void SnapshotNames::Unlike::add(u64 more_rows, u64 more_counted) {
  rows = core::saturating_add(rows, more_rows);
  counted = core::saturating_add(counted, more_counted);
}

void SnapshotNames::add_row(std::optional<State> state) {
  if (state)
    ++rows_[static_cast<std::size_t>(*state)];
  else
    ++stateless_;
}

void SnapshotNames::add_counts(const SnapshotCounts& counts) {
  // Of states that have rows; the rest may be all of another one.
  u64 unusable = std::exchange(unusable_, 0);
  for (std::size_t i = 0; i < state_count; ++i)
    if (rows_[i] > 0 && counts.names[i].value_or(0) > rows_[i])
      unusable -= std::min(unusable, *counts.names[i] - rows_[i]);
  u64 lacking = 0;
  for (std::size_t i = 0; i < state_count; ++i) {
    const u64 rows = std::exchange(rows_[i], 0);
    auto& sum = sums_[i];
    sum.rows += rows;
    sum.is_counted &= counts.names[i].has_value();
    const u64 counted = counts.names[i].value_or(rows);
    sum.counted = core::saturating_add(sum.counted, counted);
    if (counted == rows) continue;
    if (stateless_ > 0)
      lacking = core::saturating_add(lacking, counted - std::min(counted, rows));
    else if (counted < rows)
      sum.more.add(rows, counted);
    else if ((rows > 0 || counted <= unusable) && !counts.matched)
      sum.fewer.add(rows, counted);
    else
      sum.left_out = core::saturating_add(sum.left_out, counted - rows);
  }
  ended_ = true;
  has_stateless_ |= stateless_ > 0;
  unnamed_left_out_ =
      core::saturating_add(unnamed_left_out_, lacking - std::min(lacking, stateless_));
  stateless_ = 0;
}

void SnapshotNames::report(std::string_view others, core::Findings& findings) const {
  std::string fewer, more;
  const auto append = [](std::string& text, const Unlike& unlike, State state) {
    if (unlike.rows > 0 || unlike.counted > 0)
      append_piece(text, fmt::format("{} of {} {}", unlike.rows, unlike.counted, to_string(state)));
  };
  for (std::size_t i = 0; i < state_count; ++i) {
    append(fewer, sums_[i].fewer, state_at(i));
    append(more, sums_[i].more, state_at(i));
  }
  if (!fewer.empty())
    findings.warning("snapshot-selection", std::nullopt,
                     "the snapshot lacks names that its last line counts: {}. The others {}", fewer,
                     others);
  if (!more.empty())
    findings.warning("snapshot-selection", std::nullopt,
                     "the snapshot has more names than its last line counts: {}", more);
}

void SnapshotNames::report_compared(core::Findings& findings) const {
  const auto there = rows(State::live);
  if (const auto wanted = counted(State::live); wanted && *wanted != there)
    findings.warning("snapshot-selection", std::nullopt,
                     "live names in the snapshot: {}, counted in its last line: {}; missing or "
                     "surplus names look deleted or created",
                     there, *wanted);
}

std::string SnapshotNames::left_out() const {
  std::string text;
  for (std::size_t i = 0; i < state_count; ++i)
    if (sums_[i].left_out > 0)
      append_piece(text, fmt::format("{} {}", sums_[i].left_out, to_string(state_at(i))));
  if (unnamed_left_out_ > 0) append_piece(text, fmt::format("{} names", unnamed_left_out_));
  return text;
}

std::optional<u64> SnapshotNames::counted(State state) const {
  return ended_ && sum(state).is_counted ? std::optional{sum(state).counted} : std::nullopt;
}

bool SnapshotNames::has_all(State state) const {
  const auto& one = sum(state);
  return ended_ && !has_stateless_ && one.is_counted && one.left_out == 0 &&
         one.fewer.counted == 0 && one.more.rows == 0;
}

bool SnapshotNames::has_all_files() const {
  using enum State;
  return std::ranges::all_of(std::array{live, deleted, detached, unreachable},
                             [&](State state) { return has_all(state); });
}

void note_left_out(std::string_view left_out, core::Findings& findings) {
  if (!left_out.empty())
    findings.info("snapshot-left-out", std::nullopt, "not in the snapshot: {}", left_out);
}

}  // namespace coldtrace::ntfs
