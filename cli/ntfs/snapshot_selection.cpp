#include "cli/ntfs/snapshot_selection.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/json_members.hpp"
#include "cli/output/messages.hpp"
#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

std::string_view name_of(std::size_t state) {
  return to_string(static_cast<ntfs::State>(state));
}

}  // namespace

void SnapshotSelection::read_row(const Value& json) {
  if (const auto state = ntfs::to_state(text_member(json, "state")))
    ++rows_[static_cast<std::size_t>(*state)];
  else
    ++stateless_;
}

void SnapshotSelection::read_summary(const Value& json) {
  const auto* const counts = find_member(json, "counts", &Value::IsObject);
  has_counts_ = counts != nullptr && find_member(json, "complete", &Value::IsTrue) != nullptr;
  if (counts == nullptr) return;
  matched_ |= counts->HasMember("matched");
  for (std::size_t i = 0; i < ntfs::state_count; ++i)
    stated_[i] = core::saturating_add(
        stated_[i], number_member(*counts, std::string{name_of(i)}.c_str()).value_or(0));
}

u64 SnapshotSelection::lacking(std::size_t state) const {
  return stated_[state] - std::min(stated_[state], rows_[state]);
}

void SnapshotSelection::report(core::Findings& findings) {
  if (!has_counts_ || stateless_ > 0 || matched_) return;
  std::string text;
  for (std::size_t i = 0; i < ntfs::state_count; ++i) {
    lost_[i] = rows_[i] > 0 && lacking(i) > 0;
    if (lost_[i])
      text +=
          fmt::format("{}{} of {} {}", text.empty() ? "" : ", ", rows_[i], stated_[i], name_of(i));
  }
  if (!text.empty())
    findings.warning("snapshot-selection", std::nullopt,
                     "the snapshot has not all names that its last line counts: {}. The others "
                     "are not searched",
                     text);
}

std::string SnapshotSelection::left_out() const {
  std::string text;
  if (!has_counts_) return text;
  u64 rest = 0;
  for (std::size_t i = 0; i < ntfs::state_count; ++i) {
    if (lacking(i) == 0 || lost_[i]) continue;
    rest += lacking(i);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", lacking(i), name_of(i));
  }
  if (stateless_ == 0) return text;
  return rest > stateless_ ? fmt::format("{} names", rest - stateless_) : std::string{};
}

bool SnapshotSelection::has_all(ntfs::State state) const {
  const auto i = static_cast<std::size_t>(state);
  return has_counts_ && stateless_ == 0 && rows_[i] == stated_[i];
}

bool SnapshotSelection::has_all_files() const {
  using enum ntfs::State;
  return std::ranges::all_of(std::array{live, deleted, detached, unreachable},
                             [&](auto state) { return has_all(state); });
}

void add_left_out(const std::string& left_out, core::Findings& findings) {
  if (!left_out.empty())
    findings.info("snapshot-left-out", std::nullopt, "not in the snapshot: {}", left_out);
}

void say_left_out(const std::string& snapshot, const std::string& left_out) {
  if (!left_out.empty())
    say(fmt::format("{}: not in the snapshot: {}; 'ntfs snapshot --state all' lists them\n",
                    core::printable(snapshot), left_out));
}

}  // namespace coldtrace::cli
