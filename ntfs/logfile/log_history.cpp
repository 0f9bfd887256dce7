#include "coldtrace/ntfs/logfile/log_history.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "coldtrace/ntfs/journal/usn_names.hpp"
#include "coldtrace/ntfs/journal/usn_record.hpp"

namespace coldtrace::ntfs {
namespace {

// What a log of 64 MiB can hold is far less; a larger one must not fill the memory.
constexpr std::size_t most_items = std::size_t{1} << 20;

struct NamedItem {
  FileReference file;
  LoggedName name;
  std::size_t evidence;
};

struct RecordItem {
  u64 record;
  std::size_t evidence;
};

struct InitializedItem {
  std::optional<LogFileRecord> file;
  std::vector<LoggedName> names;
  std::size_t evidence;
};

struct TimesItem {
  u64 record;
  std::vector<LoggedTime> times;
  bool partial;
  std::size_t evidence;
};

// What the records of one transaction say.
struct Transaction {
  u64 first_lsn;
  std::map<u64, InitializedItem> initialized;
  std::vector<RecordItem> deallocated;
  std::vector<NamedItem> added;
  std::vector<NamedItem> removed;
  std::vector<TimesItem> times;
};

// A name that people see rather than its short half.
const NamedItem* choose(const std::vector<const NamedItem*>& items) {
  if (items.empty()) return nullptr;
  const auto long_one = std::ranges::find_if(
      items, [](const NamedItem* item) { return item->name.name_space != NameSpace::dos; });
  return long_one == items.end() ? items.front() : *long_one;
}

// Whether both have the same names in the same directories: entries that went to another node of
// the index.
bool are_same(const std::vector<const NamedItem*>& a, const std::vector<const NamedItem*>& b) {
  const auto has = [](const std::vector<const NamedItem*>& items, const LoggedName& name) {
    return std::ranges::any_of(items,
                               [&](const NamedItem* item) { return is_same(item->name, name); });
  };
  return std::ranges::all_of(a, [&](const NamedItem* item) { return has(b, item->name); }) &&
         std::ranges::all_of(b, [&](const NamedItem* item) { return has(a, item->name); });
}

bool are_of_same_directories(const std::vector<const NamedItem*>& a,
                             const std::vector<const NamedItem*>& b) {
  const auto has = [](const std::vector<const NamedItem*>& items, FileReference parent) {
    return std::ranges::any_of(items,
                               [&](const NamedItem* item) { return item->name.parent == parent; });
  };
  return std::ranges::all_of(a, [&](const NamedItem* item) { return has(b, item->name.parent); }) &&
         std::ranges::all_of(b, [&](const NamedItem* item) { return has(a, item->name.parent); });
}

class HistoryReader {
 public:
  HistoryReader(LogFile& log, u32 cluster_size) : log_{log}, cluster_size_{cluster_size} {}

  LogHistory read(core::Findings& findings);

 private:
  void add(std::size_t index, const LogRecord& record, core::ByteView data);
  void add_names(const LogAction& action, std::size_t index, Transaction& transaction);
  void add_times(const LogAction& action, std::size_t index, Transaction& transaction);
  void add_journal(u64 lsn, core::ByteView bytes);
  void close(const Transaction& transaction, bool committed, u64 lsn, u32 number);
  void close_names(const Transaction& transaction, const LogEvent& common,
                   std::map<u64, bool>& seen);
  void set_names();
  void set_times();
  bool has_room() {
    full_ = full_ || ++items_ > most_items;
    return !full_;
  }

  LogFile& log_;
  u32 cluster_size_;
  std::map<u32, Transaction> open_;
  LogHistory history_;
  std::size_t items_ = 0;
  bool full_ = false;
};

void HistoryReader::add_names(const LogAction& action, std::size_t index,
                              Transaction& transaction) {
  using enum LogOperation;
  if (action.redo == initialize_file_record && action.file && has_room()) {
    InitializedItem item{read_logged_record(action.redo_data), {}, index};
    if (item.file)
      for (const auto& name : item.file->names) item.names.push_back(to_logged_name(name));
    if (item.file) item.file->names.clear();  // they view the record's data
    transaction.initialized.insert_or_assign(*action.file, std::move(item));
  }
  const bool frees = action.redo == deallocate_file_record ||
                     (action.undo == deallocate_file_record && static_cast<u16>(action.redo) == 0);
  if (frees && action.file && has_room()) transaction.deallocated.push_back({*action.file, index});
  if (action.redo == add_index_entry || action.redo == add_index_entry_root) {
    if (const auto entry = read_log_entry(action.redo_data); entry && has_room())
      transaction.added.push_back({entry->file, to_logged_name(entry->name), index});
  } else if (action.redo == delete_index_entry || action.redo == delete_index_entry_root) {
    if (const auto entry = read_log_entry(action.undo_data); entry && has_room())
      transaction.removed.push_back({entry->file, to_logged_name(entry->name), index});
  }
}

// Only what differs is logged, from the first byte that does: a time may be there in part.
void HistoryReader::add_times(const LogAction& action, std::size_t index,
                              Transaction& transaction) {
  constexpr u16 value_start = 0x18;  // of a resident attribute without a name
  constexpr u16 times_end = value_start + 32;
  if (action.redo != LogOperation::update_resident_value || !action.file ||
      action.record_offset < 0x30 || action.record_offset > 0x48 ||
      action.attribute_offset < value_start || action.attribute_offset >= times_end || !has_room())
    return;
  const u64 start = action.attribute_offset - value_start;
  TimesItem item{*action.file, {}, start % 8 != 0, index};
  for (unsigned which = 0; which < 4; ++which) {
    const u64 place = u64{which} * 8;
    if (place < start) continue;
    const auto before = core::load<u64>(action.undo_data, place - start);
    const auto after = core::load<u64>(action.redo_data, place - start);
    if (before && after) item.times.push_back({which, {*before}, {*after}});
  }
  const bool same = std::ranges::all_of(
      item.times, [](const LoggedTime& time) { return time.before == time.after; });
  if (item.partial || item.times.empty() || !same) transaction.times.push_back(std::move(item));
}

// Records of the journal among the bytes that were written.
void HistoryReader::add_journal(u64 lsn, core::ByteView bytes) {
  for (u64 at = 0; at + UsnRecord::smallest <= bytes.size();) {
    const auto record = read_usn_record(bytes.subspan(at), 0);
    if (!record || !record->time || !has_room()) {
      at += 8;
      continue;
    }
    history_.journal.push_back({lsn, record->file, record->reasons, *record->time});
    at += (record->length + 7) & ~u32{7};
  }
}

void HistoryReader::add(std::size_t index, const LogRecord& record, core::ByteView data) {
  if (record.type == LogRecord::type_restart) {
    // A checkpoint: its client version 1 has the size of clusters.
    const u32 size = core::load<u32>(data, 80).value_or(0);
    if (size != 0 && size % 512 == 0) cluster_size_ = size;
    return;
  }
  const auto action = read_log_action(data, cluster_size_);
  if (!action) return;
  ++history_.actions;
  auto& transaction =
      open_.try_emplace(record.transaction, Transaction{.first_lsn = record.lsn}).first->second;
  add_names(*action, index, transaction);
  add_times(*action, index, transaction);
  if (action->redo == LogOperation::update_nonresident_value)
    add_journal(record.lsn, action->redo_data);
  if (action->redo != LogOperation::forget_transaction) return;
  close(transaction, true, record.lsn, record.transaction);
  open_.erase(record.transaction);
}

void HistoryReader::close_names(const Transaction& transaction, const LogEvent& common,
                                std::map<u64, bool>& seen) {
  struct Names {
    std::vector<const NamedItem*> added;
    std::vector<const NamedItem*> removed;
  };
  std::vector<FileReference> order;
  std::map<FileReference, Names> files;
  const auto names_of = [&](FileReference file) -> Names& {
    if (!files.contains(file)) order.push_back(file);
    return files[file];
  };
  for (const auto& item : transaction.added) names_of(item.file).added.push_back(&item);
  for (const auto& item : transaction.removed) names_of(item.file).removed.push_back(&item);
  for (const auto file : order) {
    seen[file.record] = true;
    const auto& [added, removed] = files[file];
    if (!added.empty() && !removed.empty() && are_same(added, removed)) continue;
    auto event = common;
    event.record = file.record;
    event.sequence = file.sequence;
    if (const auto* item = choose(removed)) event.before = item->name;
    if (const auto* item = choose(added)) event.after = item->name;
    for (const auto* item : removed) event.evidence.push_back(item->evidence);
    for (const auto* item : added) event.evidence.push_back(item->evidence);
    const auto initialized = transaction.initialized.find(file.record);
    const auto freed = std::ranges::find(transaction.deallocated, file.record, &RecordItem::record);
    if (!added.empty() && !removed.empty()) {
      event.kind =
          are_of_same_directories(added, removed) ? LogEventKind::renamed : LogEventKind::moved;
    } else if (!added.empty()) {
      const bool created = initialized != transaction.initialized.end();
      event.kind = created ? LogEventKind::created : LogEventKind::linked;
      if (created) event.evidence.push_back(initialized->second.evidence);
    } else {
      const bool deleted = freed != transaction.deallocated.end();
      event.kind = deleted ? LogEventKind::deleted : LogEventKind::unlinked;
      if (deleted) event.evidence.push_back(freed->evidence);
    }
    std::ranges::sort(event.evidence);
    history_.events.push_back(std::move(event));
  }
}

void HistoryReader::close(const Transaction& transaction, bool committed, u64 lsn, u32 number) {
  LogEvent common{.kind = LogEventKind::created,
                  .record = 0,
                  .committed = committed,
                  .lsn = lsn,
                  .transaction = number};
  std::map<u64, bool> seen;
  close_names(transaction, common, seen);
  for (const auto& [record, item] : transaction.initialized) {
    if (seen.contains(record)) continue;
    auto event = common;
    event.kind = LogEventKind::initialized;
    event.record = record;
    if (item.file) event.sequence = item.file->sequence;
    if (!item.names.empty()) event.after = item.names.front();
    event.evidence = {item.evidence};
    history_.events.push_back(std::move(event));
  }
  for (const auto& item : transaction.times) {
    auto event = common;
    event.kind = LogEventKind::times_set;
    event.record = item.record;
    event.times = item.times;
    event.partial = item.partial;
    event.evidence = {item.evidence};
    history_.events.push_back(std::move(event));
  }
  for (const auto& item : transaction.deallocated) {
    if (seen.contains(item.record)) continue;
    auto event = common;
    event.kind = LogEventKind::deallocated;
    event.record = item.record;
    event.evidence = {item.evidence};
    history_.events.push_back(std::move(event));
  }
}

// What sets times has the record alone: the name is that of the last event of the record, or of the
// next one where that tells of the same file. Events that end a file tell nothing of the next one.
void HistoryReader::set_names() {
  struct Known {
    const LogEvent* event = nullptr;
    const LoggedName* name = nullptr;
  };
  const auto take = [](LogEvent& event, const Known& known) {
    if (known.name == nullptr) return;
    event.after = *known.name;
    event.sequence = known.event->sequence;
    event.name_source = LogNameSource::log;
  };
  const auto name_of = [](const std::optional<LoggedName>& name) {
    return name ? &*name : nullptr;
  };
  std::map<u64, Known> known;
  for (auto& event : history_.events) {
    if (event.kind != LogEventKind::times_set) {
      if (event.before || event.after) event.name_source = LogNameSource::transaction;
      if (event.kind != LogEventKind::unlinked)
        known[event.record] = {&event, name_of(event.after)};
      continue;
    }
    const auto last = known.find(event.record);
    event.named_by_mft = last == known.end();
    if (last != known.end()) take(event, last->second);
  }
  known.clear();
  for (auto place = history_.events.rbegin(); place != history_.events.rend(); ++place) {
    auto& event = *place;
    if (event.kind != LogEventKind::times_set) {
      if (event.kind != LogEventKind::linked) known[event.record] = {&event, name_of(event.before)};
      continue;
    }
    const auto next = known.find(event.record);
    if (!event.named_by_mft || next == known.end()) continue;
    event.named_by_mft = false;
    take(event, next->second);
  }
}

// A record of a log has no time. A creation has that of the name; of the rest the journal's records
// in the log tell, of the same file or around it.
void HistoryReader::set_times() {
  std::ranges::stable_sort(history_.journal, {}, &LoggedUsn::lsn);
  const auto reasons_of = [](LogEventKind kind) -> u32 {
    if (kind == LogEventKind::created) return usn_file_create;
    if (kind == LogEventKind::deleted) return usn_file_delete;
    const bool renamed = kind == LogEventKind::renamed || kind == LogEventKind::moved;
    return renamed ? usn_rename_old_name | usn_rename_new_name : 0;
  };
  // A journal's record is written right behind what it tells of.
  constexpr std::size_t most_between = 64;
  for (auto& event : history_.events) {
    const auto behind = std::ranges::lower_bound(history_.journal, event.lsn, {}, &LoggedUsn::lsn);
    if (behind != history_.journal.end()) event.not_after = behind->time;
    if (behind != history_.journal.begin()) event.not_before = std::prev(behind)->time;
    const auto wanted = reasons_of(event.kind);
    const auto left = static_cast<std::size_t>(history_.journal.end() - behind);
    const auto passed = static_cast<std::size_t>(behind - history_.journal.begin());
    const auto is_of_event = [&](const LoggedUsn& usn) {
      return (usn.reasons & wanted) != 0 && usn.file.record == event.record &&
             usn.file.sequence == event.sequence;
    };
    const auto first = behind - static_cast<std::ptrdiff_t>(std::min(passed, most_between));
    const auto last = behind + static_cast<std::ptrdiff_t>(std::min(left, most_between));
    if (const auto usn = std::find_if(first, last, is_of_event); wanted != 0 && usn != last) {
      event.time = usn->time;
      event.time_source = LogTimeSource::journal;
    } else if (event.kind == LogEventKind::created && event.after->times.created.ticks != 0) {
      event.time = event.after->times.created;
      event.time_source = LogTimeSource::creation;
    }
  }
}

LogHistory HistoryReader::read(core::Findings& findings) {
  const auto& records = log_.records();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto data = log_.read_data(records[i], findings);
    if (data)
      add(i, records[i], *data);
    else
      ++history_.lost;
  }
  for (const auto& [number, transaction] : open_)
    close(transaction, false, transaction.first_lsn, number);
  set_names();
  set_times();
  if (full_)
    findings.warning(
        "log-limit", std::nullopt,
        "$LogFile has more than {} changes of names and times; the others are left out",
        most_items);
  return std::move(history_);
}

}  // namespace

LoggedName to_logged_name(const FileName& name) {
  LoggedName logged{name.parent, name.name_space, {}, name.times};
  for (std::size_t i = 0; i < name.name.units(); ++i) {
    const auto unit = name.name.unit(i);
    logged.units.push_back(static_cast<std::byte>(unit & 0xffU));
    logged.units.push_back(static_cast<std::byte>(unit >> 8U));
  }
  return logged;
}

std::string_view to_string(LogEventKind kind) {
  constexpr std::array<std::string_view, log_event_kind_count> texts = {
      "created",  "deleted",     "renamed",     "moved",    "linked",
      "unlinked", "initialized", "deallocated", "times_set"};
  return texts[static_cast<std::size_t>(kind)];
}

LogHistory read_log_history(LogFile& log, u32 cluster_size, core::Findings& findings) {
  return HistoryReader{log, cluster_size}.read(findings);
}

}  // namespace coldtrace::ntfs
