#include "coldtrace/ntfs/journal/journal_events.hpp"

#include <algorithm>

#include "coldtrace/ntfs/journal/usn_names.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 most_kept = u64{256} << 20;  // bytes of old paths

}  // namespace

std::optional<JournalEvent> JournalEvents::add(const UsnRecord& record, u64 position,
                                               std::string_view path) {
  const Key key{to_stored(record.file), record.file_high};
  auto& event = open_[key];
  if (event.records++ == 0) event.first_usn = record.usn;
  if (!event.first_time) event.first_time = record.time;
  event.reasons |= record.reasons;
  event.sources |= record.sources;
  event.last_position = position;
  if ((record.reasons & usn_rename_old_name) != 0 && !path.empty() && event.old_path.empty()) {
    if (paths_size_ + path.size() > most_kept) {
      ++paths_left_out_;
    } else {
      event.old_path = path;
      paths_size_ += path.size();
    }
  }
  if (!record.closes()) return std::nullopt;
  event.closed = true;
  auto closed = std::move(event);
  open_.erase(key);
  paths_size_ -= closed.old_path.size();
  return closed;
}

std::vector<JournalEvent> JournalEvents::take_open() {
  std::vector<JournalEvent> events;
  for (auto& [key, event] : open_) events.push_back(std::move(event));
  open_.clear();
  std::ranges::sort(events, {}, &JournalEvent::first_usn);
  return events;
}

}  // namespace coldtrace::ntfs
