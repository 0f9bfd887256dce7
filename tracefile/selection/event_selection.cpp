#include "coldtrace/tracefile/selection/event_selection.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/utf16.hpp"
#include "tracefile/where/header_sieve.hpp"

namespace coldtrace::tracefile {
namespace {

bool matches(std::string_view wanted, std::string_view name) {
  return glob_matches(wanted, name, GlobCase::insensitive);
}

bool is_one_provider(std::string_view wanted, const EventKind& kind) {
  if (wanted.size() == 38 && wanted.front() == '{') wanted = wanted.substr(1, 36);
  if (const auto guid = core::parse_guid(wanted)) return *guid == kind.provider;
  return matches(wanted, kind.provider_name);
}

std::optional<u32> id_in(std::string_view text) {
  u32 id = 0;
  const auto* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, id);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return id;
}

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string_view event_class_of(std::string_view name) {
  return name.substr(0, name.find('/'));
}

// What is asked for may stand for several providers, as one of WPP does for the source files that
// log: each has a line, behind that of the user.
bool is_provider(std::string_view wanted, const EventKind& kind) {
  while (true) {
    const auto line = first_line(wanted);
    if (is_one_provider(line, kind)) return true;
    if (line.size() == wanted.size()) return false;
    wanted.remove_prefix(line.size() + 1);
  }
}

bool is_event(std::string_view wanted, const EventKind& kind) {
  u16 id = 0;
  const auto* const end = wanted.data() + wanted.size();
  if (std::from_chars(wanted.data(), end, id).ptr == end && !wanted.empty())
    return kind.event_class != EventClass::classic && kind.id == id;
  return matches(wanted, kind.name) || matches(wanted, event_class_of(kind.name));
}

bool is_process(std::string_view wanted, u32 pid, std::string_view image_name) {
  if (const auto id = id_in(wanted)) return *id == pid;
  std::string room;
  return matches(wanted, core::shown_text(image_name, room));
}

EventSelector::EventSelector(const EventContext& context, core::Borrowed<EventSelection> selection)
    : context_{context}, selection_{selection.get()}, decoder_{context.schemas} {
  if (selection_.where) filter_.emplace(context_, *selection_.where);
}

bool EventSelector::Asked::meets(const std::vector<std::string>& wanted, const EventKind& kind,
                                 bool (*matches)(std::string_view, const EventKind&)) {
  met.resize(wanted.size());
  bool any = wanted.empty();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!matches(wanted[i], kind)) continue;
    met[i] = true;
    any = true;
  }
  return any;
}

void EventSelector::Asked::report(core::NoMatch& unmatched, std::string_view option,
                                  const std::vector<std::string>& wanted) const {
  const std::vector<std::string_view> known{names.begin(), names.end()};
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (i >= met.size() || !met[i]) unmatched.add(option, first_line(wanted[i]), known);
}

bool EventSelector::wants_kind(const EventKind& kind) {
  const bool provider = providers_.meets(selection_.providers, kind, is_provider);
  const bool event = events_.meets(selection_.events, kind, is_event);
  return provider && event;
}

bool EventSelector::has_wanted_kind(const Event& event) {
  const auto& kind = decoder_.kind_of(event);
  if (!kind.kept) return wants_kind(kind);
  if (kind.number >= answers_.size()) answers_.resize(kind.number + std::size_t{1});
  auto& answer = answers_[kind.number];
  if (!answer) {
    providers_.names.insert(kind.provider_name);
    events_.names.emplace(kind.name);
    events_.names.emplace(event_class_of(kind.name));
    answer = wants_kind(kind);
  }
  return *answer;
}

bool EventSelector::AskedProcesses::meets(const std::vector<std::string>& wanted,
                                          const Event& event, const EventContext& context) {
  if (wanted.empty()) return true;
  if (!event.pid) return false;
  met.resize(wanted.size());
  std::string_view name;
  if (!std::all_of(wanted.begin(), wanted.end(), id_in)) {
    name = context.names.get().find_process(*event.pid, event.name_time()).value_or("");
    if (!names.contains(name)) names.emplace(name);
  }
  bool any = false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!is_process(wanted[i], *event.pid, name)) continue;
    met[i] = true;
    any = true;
  }
  return any;
}

void EventSelector::AskedProcesses::report(core::NoMatch& unmatched,
                                           const std::vector<std::string>& wanted,
                                           const core::ShownName& shown_name) const {
  const std::vector<std::string_view> known{names.begin(), names.end()};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i < met.size() && met[i]) continue;
    if (id_in(wanted[i]))
      unmatched.add("--process", wanted[i]);
    else
      unmatched.add("--process", wanted[i], known, shown_name);
  }
}

bool EventSelector::AskedIds::meets(const std::vector<u32>& wanted, std::optional<u32> id) {
  if (wanted.empty()) return true;
  if (!id || std::find(wanted.begin(), wanted.end(), *id) == wanted.end()) return false;
  met.insert(*id);
  return true;
}

void EventSelector::AskedIds::report(core::NoMatch& unmatched, std::string_view option,
                                     const std::vector<u32>& wanted) const {
  for (const auto id : wanted)
    if (!met.contains(id)) unmatched.add(option, std::to_string(id));
}

bool EventSelector::wants(const Event& event, const AttachedStack* attached) {
  // All are always asked, so that each list knows what it met.
  const bool kind = !selection_.by_kind() || has_wanted_kind(event);
  const bool process = processes_.meets(selection_.processes, event, context_);
  const bool thread = tids_.meets(selection_.tids, event.tid);
  const bool wanted = kind && process && thread && (!filter_ || filter_->wants(event, attached));
  any_ = any_ || wanted;
  return wanted;
}

core::NoMatch EventSelector::unmatched(const core::ShownName& shown_process) const {
  core::NoMatch unmatched;
  if (selection_.from && selection_.to && selection_.to->ticks < selection_.from->ticks) {
    unmatched.add_sentence("--from is after --to");
    return unmatched;
  }
  providers_.report(unmatched, "--provider", selection_.providers);
  events_.report(unmatched, "--event", selection_.events);
  processes_.report(unmatched, selection_.processes, shown_process);
  tids_.report(unmatched, "--thread", selection_.tids);
  if (filter_) filter_->report(unmatched, "--where");
  if (!any_ && unmatched.empty() && !selection_.all())
    unmatched.add_sentence("no event has all that was asked for");
  return unmatched;
}

std::unique_ptr<const EventSieve> make_sieve(const EventSelection& selection) {
  const bool has_lists =
      selection.by_kind() || !selection.processes.empty() || !selection.tids.empty();
  if (has_lists || !selection.where || !can_sift(*selection.where)) return nullptr;
  return std::make_unique<HeaderSieve>(*selection.where);
}

void limit_to_times(const EventSelection& selection, const Clock& clock, StreamOptions& options) {
  if (selection.from) options.first = clock.first_timestamp_at(*selection.from);
  if (selection.to) options.last = clock.last_timestamp_at(*selection.to);
  // Events without a time are in no range of times.
  const bool none =
      !clock.known() || (selection.from && !options.first) || (selection.to && !options.last);
  if (none && (selection.from || selection.to)) {
    options.first = std::numeric_limits<i64>::max();
    options.last = std::numeric_limits<i64>::min();
  }
}

}  // namespace coldtrace::tracefile
