#include "coldtrace/trace_analysis/comparison/trace_tally.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/events/sequence_findings.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"

namespace coldtrace::trace_analysis {
namespace {

using tracefile::Event;
using tracefile::EventClass;
using tracefile::EventKind;

constexpr std::size_t most_kinds = 65'536;
constexpr std::size_t most_open = 1'000'000;
constexpr u8 opcode_start = 1;
constexpr u8 opcode_stop = 2;

class Tallier {
 public:
  Tallier(const tracefile::EventContext& context, const tracefile::EventSelection& selection)
      : clock_{context.clock.get()}, decoder_{context.schemas}, selector_{context, selection} {}

  void add(const Event& event) {
    if (event.has_time) {
      const auto time = event.name_time();
      tally_.first = std::min(tally_.first.value_or(time), time);
      tally_.last = std::max(tally_.last.value_or(time), time);
    }
    if (!selector_.wants(event)) return;
    ++tally_.events;
    const auto& kind = decoder_.kind_of(event);
    if (!count(kind)) ++tally_.left_out;
    if (kind.event_class == EventClass::manifest && event.has_time) pair(event, kind);
  }

  TraceTally finish(u64 unread_buffers) {
    for (auto& [key, kind] : kinds_) tally_.kinds.push_back(std::move(kind));
    for (auto& [key, pair] : pairs_) tally_.pairs.push_back(std::move(pair));
    if (tally_.first && clock_.known())
      tally_.duration =
          static_cast<u64>(std::max<i64>(0, clock_.to_duration(*tally_.last - *tally_.first)));
    tally_.unread_buffers = unread_buffers;
    tally_.unmatched = selector_.unmatched();
    return std::move(tally_);
  }

 private:
  // Of a kind; its name is part of it where there is no number.
  using KindKey = std::tuple<core::Guid, EventClass, std::optional<u16>, std::string>;
  using TaskKey = std::tuple<core::Guid, std::optional<u16>, std::string>;
  // Of a task: whose start waits for its stop.
  using OpenKey = std::tuple<TaskKey, std::array<std::byte, 16>, u32>;

  bool count(const EventKind& kind) {
    const auto number = tracefile::number_of(kind);
    KindKey key{kind.provider, kind.event_class, number, number ? std::string{} : kind.name};
    auto found = kinds_.find(key);
    if (found == kinds_.end()) {
      if (kinds_.size() >= most_kinds) return false;
      found = kinds_
                  .emplace(std::move(key), KindTally{kind.provider, kind.event_class, number,
                                                     kind.provider_name, kind.name})
                  .first;
    }
    auto& tally = found->second;
    if (tally.name.empty()) tally.name = kind.name;
    if (tally.provider_name.empty()) tally.provider_name = kind.provider_name;
    ++tally.events;
    return true;
  }

  void pair(const Event& event, const EventKind& kind) {
    if (event.opcode != opcode_start && event.opcode != opcode_stop) return;
    const TaskKey task = event.trace_logging ? TaskKey{kind.provider, std::nullopt, kind.name}
                                             : TaskKey{kind.provider, event.task, std::string{}};
    OpenKey key{task, {}, 0};
    if (const auto activity = activity_of(event))
      std::get<1>(key) = activity->bytes;
    else if (event.tid)
      std::get<2>(key) = *event.tid;
    else
      return;
    if (event.opcode == opcode_start)
      start(key, event.name_time());
    else
      stop(key, task, kind, event.name_time());
  }

  void start(const OpenKey& key, i64 time) {
    if (starts_ >= most_open) {
      ++tally_.left_out;
      return;
    }
    ++starts_;
    open_[key].push_back(time);
  }

  void stop(const OpenKey& key, const TaskKey& task, const EventKind& kind, i64 time) {
    const auto found = open_.find(key);
    if (found == open_.end()) return;
    const auto passed = clock_.to_duration(time - found->second.back());
    found->second.pop_back();
    --starts_;
    if (found->second.empty()) open_.erase(found);
    if (passed < 0) return;
    auto& pair = pairs_[task];
    pair.provider = kind.provider;
    pair.task = std::get<1>(task);
    if (pair.provider_name.empty()) pair.provider_name = kind.provider_name;
    if (pair.name.empty()) pair.name = tracefile::event_class_of(kind.name);
    ++pair.pairs;
    if (__builtin_add_overflow(pair.total, passed, &pair.total))
      pair.total = std::numeric_limits<i64>::max();
    pair.longest = std::max(pair.longest, passed);
  }

  const tracefile::Clock& clock_;
  tracefile::EventDecoder decoder_;
  tracefile::EventSelector selector_;
  std::map<KindKey, KindTally> kinds_;
  std::map<TaskKey, PairTally> pairs_;
  std::map<OpenKey, std::vector<i64>> open_;
  std::size_t starts_ = 0;
  TraceTally tally_;
};

}  // namespace

TraceTally tally(const tracefile::EventContext& context, tracefile::EventSequence& events,
                 const tracefile::EventSelection& selection) {
  using Item = tracefile::EventSequence::Item;
  Tallier tallier{context, selection};
  for (auto item = events.next(); item != Item::end; item = events.next())
    if (item == Item::event) tallier.add(events.event());
  return tallier.finish(events.unread_buffers());
}

void note_tally(const TraceTally& tally, core::Findings& findings) {
  tally.unmatched.report(findings);
  if (tally.left_out > 0)
    findings.warning("compare-limit", std::nullopt, "{} beyond the number that is kept",
                     core::counted(tally.left_out, "event is of a kind, or starts a task,",
                                   "events are of kinds, or start tasks,"));
  tracefile::note_unread_buffers(tally.unread_buffers, findings);
}

}  // namespace coldtrace::trace_analysis
