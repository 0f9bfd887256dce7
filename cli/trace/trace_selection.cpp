#include "cli/trace/trace_selection.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>

#include "coldtrace/core/glob.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::EventClass;

bool matches(std::string_view wanted, std::string_view name) {
  return glob_matches(wanted, name, GlobCase::insensitive);
}

std::string_view class_of(std::string_view name) {
  return name.substr(0, name.find('/'));
}

bool is_provider(std::string_view wanted, const tracefile::EventKind& kind) {
  if (wanted.size() == 38 && wanted.front() == '{') wanted = wanted.substr(1, 36);
  if (const auto guid = core::parse_guid(wanted)) return *guid == kind.provider;
  return !kind.provider_name.empty() && matches(wanted, kind.provider_name);
}

bool is_event(std::string_view wanted, const tracefile::EventKind& kind) {
  u16 id = 0;
  const auto* const end = wanted.data() + wanted.size();
  if (std::from_chars(wanted.data(), end, id).ptr == end && !wanted.empty())
    return kind.event_class != EventClass::classic && kind.id == id;
  return !kind.name.empty() && (matches(wanted, kind.name) || matches(wanted, class_of(kind.name)));
}

// Exactly `count` digits from the front.
std::optional<unsigned> take_digits(std::string_view& text, std::size_t count) {
  unsigned number = 0;
  if (text.size() < count) return std::nullopt;
  const auto result = std::from_chars(text.data(), text.data() + count, number);
  if (result.ec != std::errc{} || result.ptr != text.data() + count) return std::nullopt;
  text.remove_prefix(count);
  return number;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// The time of the day in ticks, or nothing.
std::optional<u64> parse_clock(std::string_view text) {
  const auto hour = take_digits(text, 2);
  const bool colon = take(text, ':');
  const auto minute = take_digits(text, 2);
  if (!hour || !colon || !minute || *hour > 23 || *minute > 59) return std::nullopt;
  u64 ticks = (u64{*hour} * 60 + *minute) * 60 * 10'000'000;
  if (take(text, ':')) {
    const auto second = take_digits(text, 2);
    if (!second || *second > 60) return std::nullopt;
    ticks += u64{*second} * 10'000'000;
    if (take(text, '.')) {
      u64 unit = 10'000'000;
      while (unit > 1 && !text.empty() && text.front() != 'Z') {
        const auto digit = take_digits(text, 1);
        if (!digit) return std::nullopt;
        unit /= 10;
        ticks += unit * *digit;
      }
    }
  }
  take(text, 'Z');
  return text.empty() ? std::optional{ticks} : std::nullopt;
}

}  // namespace

bool TraceSelector::Asked::meets(const std::vector<std::string>& wanted,
                                 const tracefile::EventKind& kind,
                                 bool (*matches)(std::string_view, const tracefile::EventKind&)) {
  met.resize(wanted.size());
  bool any = wanted.empty();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!matches(wanted[i], kind)) continue;
    met[i] = true;
    any = true;
  }
  return any;
}

void TraceSelector::Asked::report(core::NoMatch& unmatched, std::string_view option,
                                  const std::vector<std::string>& wanted) const {
  const std::vector<std::string_view> known{names.begin(), names.end()};
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (i >= met.size() || !met[i]) unmatched.add(option, wanted[i], known);
}

bool TraceSelector::wants_kind(const tracefile::EventKind& kind) {
  const bool provider = providers_.meets(selection_.providers, kind, is_provider);
  const bool event = events_.meets(selection_.events, kind, is_event);
  return provider && event;
}

bool TraceSelector::has_wanted_kind(const tracefile::Event& event) {
  const auto& kind = decoder_.kind_of(event);
  if (!kind.kept) return wants_kind(kind);
  if (kind.number >= answers_.size()) answers_.resize(kind.number + std::size_t{1});
  auto& answer = answers_[kind.number];
  if (!answer) {
    providers_.names.insert(kind.provider_name);
    events_.names.emplace(kind.name);
    events_.names.emplace(class_of(kind.name));
    answer = wants_kind(kind);
  }
  return *answer;
}

bool TraceSelector::AskedIds::meets(const std::vector<u32>& wanted, std::optional<u32> id) {
  if (wanted.empty()) return true;
  if (!id || std::find(wanted.begin(), wanted.end(), *id) == wanted.end()) return false;
  met.insert(*id);
  return true;
}

void TraceSelector::AskedIds::report(core::NoMatch& unmatched, std::string_view option,
                                     const std::vector<u32>& wanted) const {
  for (const auto id : wanted)
    if (!met.contains(id)) unmatched.add(option, std::to_string(id));
}

bool TraceSelector::wants(const tracefile::Event& event) {
  // All are always asked, so that each list knows what it met.
  const bool kind = !selection_.by_kind() || has_wanted_kind(event);
  const bool process = pids_.meets(selection_.pids, event.pid);
  const bool thread = tids_.meets(selection_.tids, event.tid);
  const bool wanted = kind && process && thread;
  any_ = any_ || wanted;
  return wanted;
}

core::NoMatch TraceSelector::unmatched() const {
  core::NoMatch unmatched;
  if (selection_.from && selection_.to && selection_.to->ticks < selection_.from->ticks) {
    unmatched.add_sentence("--from is after --to");
    return unmatched;
  }
  providers_.report(unmatched, "--provider", selection_.providers);
  events_.report(unmatched, "--event", selection_.events);
  pids_.report(unmatched, "--pid", selection_.pids);
  tids_.report(unmatched, "--tid", selection_.tids);
  if (!any_ && unmatched.empty() && !selection_.all())
    unmatched.add_sentence("no event has all that was asked for");
  return unmatched;
}

void limit_to_times(const TraceSelection& selection, const tracefile::Clock& clock,
                    tracefile::StreamOptions& options) {
  if (!clock.known() && (selection.from || selection.to)) {
    // Events without a time are in no range of times.
    options.first = std::numeric_limits<i64>::max();
    options.last = std::numeric_limits<i64>::min();
    return;
  }
  if (selection.from) options.first = clock.first_timestamp_at(*selection.from);
  if (selection.to) options.last = clock.first_timestamp_at({selection.to->ticks + 1}) - 1;
}

std::optional<core::FileTime> parse_time(std::string_view text) {
  using namespace std::chrono;
  const auto year_number = take_digits(text, 4);
  const bool dash = take(text, '-');
  const auto month_number = take_digits(text, 2);
  const bool second_dash = take(text, '-');
  const auto day_number = take_digits(text, 2);
  if (!year_number || !dash || !month_number || !second_dash || !day_number) return std::nullopt;
  const year_month_day date{year{static_cast<int>(*year_number)}, month{*month_number},
                            day{*day_number}};
  constexpr sys_days epoch{year{1601} / 1 / 1};
  if (!date.ok() || sys_days{date} < epoch) return std::nullopt;
  const auto days = static_cast<u64>((sys_days{date} - epoch).count());
  u64 ticks = days * 86'400 * 10'000'000;
  if (take(text, 'T')) {
    const auto clock = parse_clock(text);
    if (!clock) return std::nullopt;
    ticks += *clock;
  } else if (!text.empty()) {
    return std::nullopt;
  }
  return core::FileTime{ticks};
}

}  // namespace coldtrace::cli
