#include "cli/trace_selection.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace coldtrace::cli {
namespace {

using tracefile::EventClass;

bool equal_text(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  });
}

bool is_provider(std::string_view wanted, const tracefile::EventKind& kind) {
  if (wanted.size() == 38 && wanted.front() == '{') wanted = wanted.substr(1, 36);
  if (const auto guid = core::parse_guid(wanted)) return *guid == kind.provider;
  return equal_text(wanted, kind.provider_name);
}

bool is_event(std::string_view wanted, const tracefile::EventKind& kind) {
  u16 id = 0;
  const auto* const end = wanted.data() + wanted.size();
  if (std::from_chars(wanted.data(), end, id).ptr == end && !wanted.empty())
    return kind.event_class != EventClass::classic && kind.id == id;
  const std::string_view name = kind.name;
  return equal_text(wanted, name) || equal_text(wanted, name.substr(0, name.find('/')));
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

bool TraceSelector::wants_kind(const tracefile::EventKind& kind) const {
  const auto any = [&](const std::vector<std::string>& wanted, auto matches) {
    return wanted.empty() || std::any_of(wanted.begin(), wanted.end(),
                                         [&](const auto& one) { return matches(one, kind); });
  };
  return any(selection_.providers, is_provider) && any(selection_.events, is_event);
}

bool TraceSelector::wants(const tracefile::Event& event) {
  if (!selection_.pids.empty() &&
      (!event.pid || std::find(selection_.pids.begin(), selection_.pids.end(), *event.pid) ==
                         selection_.pids.end()))
    return false;
  if (!selection_.by_kind()) return true;
  const auto& kind = decoder_.kind_of(event);
  if (!kind.kept) return wants_kind(kind);
  if (kind.number >= answers_.size()) answers_.resize(kind.number + std::size_t{1});
  auto& answer = answers_[kind.number];
  if (!answer) answer = wants_kind(kind);
  return *answer;
}

void limit_to_times(const TraceSelection& selection, const tracefile::Clock& clock,
                    tracefile::StreamOptions& options) {
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
