#include "tracefile/name_tables.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace coldtrace::tracefile {
namespace {

using Verb = NameRecord::Verb;

constexpr i64 always = std::numeric_limits<i64>::min();
constexpr i64 for_ever = std::numeric_limits<i64>::max();
constexpr u32 no_process = 0;  // images of the kernel are those of process 0
constexpr u32 system_process = 4;
// How many images at lower addresses are looked at for one that was there at the time.
constexpr int most_images_tried = 32;

// Images are told apart by their process, which the key of a state must hold.
u64 state_key(const NameRecord& record) {
  return record.subject == NameRecord::Subject::image
             ? record.key ^ (u64{record.owner} << 40 | record.owner >> 8)
             : record.key;
}

}  // namespace

u32 TextPool::add(std::string_view text) {
  const auto [place, added] = ids_.try_emplace(std::string{text}, static_cast<u32>(texts_.size()));
  if (added) {
    texts_.push_back(place->first);
    bytes_ += 2 * sizeof(std::string) + 16 + text.size();
  }
  return place->second;
}

void Timeline::sort() {
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.key, a.from) < std::tie(b.key, b.from);
  });
}

const Timeline::Entry* Timeline::find(u64 key, i64 time) const {
  const auto after = std::upper_bound(entries_.begin(), entries_.end(), std::pair{key, time},
                                      [](const std::pair<u64, i64>& wanted, const Entry& entry) {
                                        return std::tie(wanted.first, wanted.second) <
                                               std::tie(entry.key, entry.from);
                                      });
  if (after == entries_.begin() || (after - 1)->key != key) return nullptr;
  return &*(after - 1);
}

void NameTables::add(const NameRecords& records, core::Findings& findings) {
  for (const auto& record : records.all()) {
    if (bytes() > largest_bytes_) {
      findings.warning("names-limit", std::nullopt,
                       "names of processes, files and so on fill {} bytes; more are not kept",
                       largest_bytes_);
      continue;
    }
    if (record.subject == Subject::stack) {
      add_stack(record, records.frames(record));
    } else {
      add_named(record, records.text(record));
    }
  }
}

void NameTables::add_named(const NameRecord& record, std::string_view text) {
  const auto value = texts_.add(text);
  auto& pending = pending_[static_cast<std::size_t>(record.subject)];
  auto& states = states_[static_cast<std::size_t>(record.subject)];
  const auto [place, is_new] = states.try_emplace(
      state_key(record), State{record.verb, value, record.owner, record.time, false});
  auto& state = place->second;
  const bool same =
      !is_new && state.value == value && state.owner == record.owner && state.verb == record.verb;
  if (same) {
    state.repeated = std::max(state.repeated, record.time);
    state.dropped = true;
    return;
  }
  if (!is_new && state.dropped) {
    auto last = record;
    last.verb = state.verb;
    last.owner = state.owner;
    last.time = state.repeated;
    pending.push_back({last, state.value});
  }
  state = {record.verb, value, record.owner, record.time, false};
  pending.push_back({record, value});
}

void NameTables::add_stack(const NameRecord& record, const u64* frames) {
  const auto [place, added] =
      stacks_.try_emplace(record.key, std::pair{static_cast<u32>(frames_.size()), record.count});
  if (added) frames_.insert(frames_.end(), frames, frames + record.count);
}

void NameTables::finish() {
  build_timeline(pending_[static_cast<std::size_t>(Subject::process)], processes_);
  build_timeline(pending_[static_cast<std::size_t>(Subject::thread)], threads_);
  build_timeline(pending_[static_cast<std::size_t>(Subject::file)], files_);
  build_timeline(pending_[static_cast<std::size_t>(Subject::registry_key)], registry_keys_);
  build_images(pending_[static_cast<std::size_t>(Subject::image)]);
  for (auto& states : states_) states = {};
}

void NameTables::build_timeline(std::vector<Pending>& pending, Timeline& timeline) {
  std::stable_sort(pending.begin(), pending.end(), [](const Pending& a, const Pending& b) {
    return std::tie(a.record.key, a.record.time) < std::tie(b.record.key, b.record.time);
  });
  Timeline::Entry current{};
  enum class Use : u8 { unknown, running, ended } use = Use::unknown;  // of the key
  i64 ended = always;
  for (const auto& [record, value] : pending) {
    if (current.key != record.key) use = Use::unknown;
    const bool same =
        use != Use::unknown && current.value == value && current.owner == record.owner;
    Timeline::Entry entry{record.key, record.time, value, record.owner};
    bool news = !same || use == Use::ended;
    if (record.verb != Verb::begins) {
      if (use == Use::unknown) entry.from = always;
      if (use == Use::ended) entry.from = ended;  // a use whose beginning nothing is known of
      if (use == Use::running) news = news && value != 0;  // an end without a name is no news
    }
    if (news) {
      timeline.add(entry);
      current = entry;
    }
    use = record.verb == Verb::ends ? Use::ended : Use::running;
    ended = record.time;
  }
  timeline.sort();
  pending = {};
}

void NameTables::build_images(std::vector<Pending>& pending) {
  std::stable_sort(pending.begin(), pending.end(), [](const Pending& a, const Pending& b) {
    return std::tie(a.record.owner, a.record.key, a.record.time) <
           std::tie(b.record.owner, b.record.key, b.record.time);
  });
  for (const auto& [record, name] : pending) {
    ImageEntry* last = images_.empty() ? nullptr : &images_.back();
    if (last != nullptr && (last->pid != record.owner || last->base != record.key)) last = nullptr;
    const bool open = last != nullptr && last->to == for_ever;
    switch (record.verb) {
      case Verb::begins:
        if (open) last->to = record.time;
        images_.push_back({record.owner, name, record.key, record.length, record.time, for_ever});
        break;
      case Verb::exists_before:
        if (!open)
          images_.push_back({record.owner, name, record.key, record.length, always, for_ever});
        break;
      case Verb::ends:
      case Verb::exists_after: {
        const i64 to = record.verb == Verb::ends ? record.time : for_ever;
        if (open) {
          last->to = to;
        } else {
          const i64 from = last == nullptr ? always : last->to;
          images_.push_back({record.owner, name, record.key, record.length, from, to});
        }
        break;
      }
    }
  }
  pending = {};
}

std::optional<std::string_view> NameTables::find_process(u32 pid, i64 time) const {
  const auto* entry = processes_.find(pid, time);
  if (entry == nullptr || entry->value == 0) return std::nullopt;
  return texts_.text(entry->value);
}

std::optional<NameTables::Thread> NameTables::find_thread(u32 tid, i64 time) const {
  const auto* entry = threads_.find(tid, time);
  if (entry == nullptr) return std::nullopt;
  return Thread{entry->owner, texts_.text(entry->value)};
}

std::optional<std::string_view> NameTables::find_file(u64 object, i64 time) const {
  const auto* entry = files_.find(object, time);
  if (entry == nullptr || entry->value == 0) return std::nullopt;
  return texts_.text(entry->value);
}

std::optional<std::string_view> NameTables::find_registry_key(u64 handle, i64 time) const {
  const auto* entry = registry_keys_.find(handle, time);
  if (entry == nullptr || entry->value == 0) return std::nullopt;
  return texts_.text(entry->value);
}

std::optional<NameTables::Image> NameTables::find_image_of(u32 pid, u64 address, i64 time) const {
  auto at = std::upper_bound(images_.begin(), images_.end(), std::pair{pid, address},
                             [](const std::pair<u32, u64>& wanted, const ImageEntry& entry) {
                               return std::tie(wanted.first, wanted.second) <
                                      std::tie(entry.pid, entry.base);
                             });
  for (int tried = 0; at != images_.begin() && tried < most_images_tried; ++tried) {
    --at;
    if (at->pid != pid) break;
    if (address - at->base < at->size && at->from <= time && time < at->to)
      return Image{texts_.text(at->name), at->base};
  }
  return std::nullopt;
}

std::optional<NameTables::Image> NameTables::find_image(u32 pid, u64 address, i64 time) const {
  for (const auto owner : {pid, no_process, system_process})
    if (const auto image = find_image_of(owner, address, time)) return image;
  return std::nullopt;
}

std::optional<std::span<const u64>> NameTables::find_stack(u64 key) const {
  const auto found = stacks_.find(key);
  if (found == stacks_.end()) return std::nullopt;
  return std::span{frames_}.subspan(found->second.first, found->second.second);
}

std::size_t NameTables::entries() const {
  std::size_t count = processes_.size() + threads_.size() + files_.size() + registry_keys_.size() +
                      images_.size() + stacks_.size();
  for (const auto& pending : pending_) count += pending.size();
  return count;
}

std::size_t NameTables::bytes() const {
  // Of a record while collecting: itself and the state of its key; a stack's node in the table.
  constexpr std::size_t per_entry = sizeof(Pending) + 64;
  return texts_.bytes() + entries() * per_entry + frames_.size() * sizeof(u64);
}

}  // namespace coldtrace::tracefile
