#include "coldtrace/tracefile/names/timeline.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <tuple>

namespace coldtrace::tracefile {
namespace {

using Verb = NameRecord::Verb;
using Entry = Timeline::Entry;

constexpr i64 always = std::numeric_limits<i64>::min();
// Records of a trace that need not be looked through while they come.
constexpr std::size_t most_unsorted = std::size_t{1} << 19;

Verb verb_of(const Entry& entry) {
  return static_cast<Verb>(entry.verb);
}

bool by_key_and_time(const Entry& a, const Entry& b) {
  return std::tie(a.key, a.from) < std::tie(b.key, b.from);
}

bool same_value(const Entry& a, const Entry& b) {
  return a.key == b.key && a.value == b.value && a.owner == b.owner;
}

void sort_few(std::span<Entry> entries) {
  constexpr std::size_t few = 32;
  if (entries.size() > few) {
    std::stable_sort(entries.begin(), entries.end(), by_key_and_time);
    return;
  }
  for (std::size_t i = 1; i < entries.size(); ++i)
    for (auto at = i; at > 0 && by_key_and_time(entries[at], entries[at - 1]); --at)
      std::swap(entries[at], entries[at - 1]);
}

// As std::stable_sort; keys are ids and addresses, which are spread about evenly: each goes into
// one of some buckets, and only those of one bucket are compared.
std::vector<Entry> sorted_copy(std::span<const Entry> entries) {
  if (entries.empty()) return {};
  const auto by_key = [](const Entry& a, const Entry& b) { return a.key < b.key; };
  const auto ends_of_keys = std::minmax_element(entries.begin(), entries.end(), by_key);
  const u64 least = ends_of_keys.first->key, most = ends_of_keys.second->key;
  const auto shift = std::bit_width((most - least) / entries.size());
  const auto bucket_of = [&](const Entry& entry) {
    return static_cast<std::size_t>((entry.key - least) >> shift);
  };
  std::vector<std::size_t> ends(static_cast<std::size_t>((most - least) >> shift) + 2);
  for (const auto& entry : entries) ++ends[bucket_of(entry) + 1];
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
  std::vector<Entry> sorted(entries.size());
  for (const auto& entry : entries) sorted[ends[bucket_of(entry)]++] = entry;
  std::size_t first = 0;
  for (const auto end : ends) {
    sort_few(std::span{sorted}.subspan(first, end - first));
    first = end;
  }
  return sorted;
}

}  // namespace

void Timeline::add(const Entry& record) {
  if (entries_.size() - sorted_ >= most_unsorted) drop_repetitions();
  // Growing many would hold both copies at once; what is reserved and not written takes nothing.
  if (entries_.size() == most_unsorted) entries_.reserve(std::max(most_, 2 * most_unsorted));
  entries_.push_back(record);
}

void Timeline::sort() {
  const auto middle = entries_.begin() + static_cast<std::ptrdiff_t>(sorted_);
  const auto added = sorted_copy(std::span{middle, entries_.end()});
  // From the end, so that only the new ones are copied; std::inplace_merge may copy all.
  auto old = sorted_;
  auto to = entries_.size();
  for (auto left = added.size(); left > 0;) {
    const bool old_first = old > 0 && by_key_and_time(added[left - 1], entries_[old - 1]);
    entries_[--to] = old_first ? entries_[--old] : added[--left];
  }
  sorted_ = entries_.size();
}

// What says again that something is as it is, and an end between two beginnings.
void Timeline::drop_repetitions() {
  sort();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto record = entries_[i];
    const bool running = kept > 0 && same_value(entries_[kept - 1], record) &&
                         verb_of(entries_[kept - 1]) != Verb::ends;
    const bool followed = i + 1 < entries_.size() && entries_[i + 1].key == record.key &&
                          verb_of(entries_[i + 1]) == Verb::begins;
    if (running && (verb_of(record) != Verb::ends || followed)) continue;
    entries_[kept++] = record;
  }
  entries_.resize(kept);
  sorted_ = kept;
}

void Timeline::finish() {
  sort();
  std::size_t kept = 0;
  Entry current{};
  enum class Use : u8 { unknown, running, ended } use = Use::unknown;  // of the key
  i64 ended = always;
  for (const auto record : entries_) {
    if (current.key != record.key) use = Use::unknown;
    auto entry = record;
    bool news = use != Use::running || !same_value(current, record);
    if (verb_of(record) != Verb::begins) {
      if (use == Use::unknown) entry.from = always;
      if (use == Use::ended) entry.from = ended;  // a use whose beginning nothing is known of
      if (use == Use::running)
        news = news && record.value != 0;  // an end without a name is no news
    }
    if (news) current = entries_[kept++] = entry;
    use = verb_of(record) == Verb::ends ? Use::ended : Use::running;
    ended = record.from;
  }
  entries_.resize(kept);  // still sorted: `from` is no earlier than the record before
}

const Entry* Timeline::find_later(u64 key, i64 time) const {
  const auto later = std::upper_bound(entries_.begin(), entries_.end(), std::pair{key, time},
                                      [](const std::pair<u64, i64>& wanted, const Entry& entry) {
                                        return std::tie(wanted.first, wanted.second) <
                                               std::tie(entry.key, entry.from);
                                      });
  return entries_.data() + (later - entries_.begin());
}

const Entry* Timeline::find(u64 key, i64 time) const {
  const auto* const later = find_later(key, time);
  return later != entries_.data() && (later - 1)->key == key ? later - 1 : nullptr;
}

const Entry* Timeline::find(u64 key, i64 time, NameValidity& validity) const {
  const auto* const later = find_later(key, time);
  if (later != entries_.data() + entries_.size() && later->key == key)
    validity.changes_at(later->from);
  if (later == entries_.data() || (later - 1)->key != key) return nullptr;
  validity.changes_at((later - 1)->from);
  return later - 1;
}

}  // namespace coldtrace::tracefile
