#include "coldtrace/ntfs/walk.hpp"

#include <algorithm>

namespace coldtrace::ntfs {
namespace {

constexpr std::size_t rows_in_batch = 256;  // as text about what a cache holds
// Steps that yield no row still end a batch, so that none grows without bound.
constexpr std::size_t steps_in_batch = std::size_t{64} * 1024;
// Each name of a file tells all its streams and their runs again. A name of 100 bytes could make
// megabytes so: as text a run is of about this size.
constexpr u64 bytes_for_a_repeat = 64;
constexpr u64 least_repeats = 4096;

// What a row tells of an attribute, in pieces of about as much text as a run.
u64 size_as_text(const AttributeFacts& attribute) {
  constexpr u64 least_extended_attribute = 12;
  u64 size = 1;
  const u64 value = std::min(attribute.size, largest_value);
  if (attribute.type == AttributeType::ea) size += value / least_extended_attribute;
  if (attribute.type == AttributeType::reparse_point) size += value / bytes_for_a_repeat;
  DataRunReader runs{attribute.runs, 0};
  while (!attribute.resident && runs.next()) ++size;
  return size;
}

}  // namespace

Walk::Walk(core::Borrowed<Snapshot> snapshot, StateSet states)
    : snapshot_{snapshot.get()},
      states_{states},
      reached_(snapshot_.records().size()),
      confirmed_(snapshot_.records().size()),
      entered_(snapshot_.records().size()),
      listed_(snapshot_.records().size()),
      repeats_left_(snapshot_.volume().image().size() / bytes_for_a_repeat + least_repeats),
      read_buffers_(snapshot_.directories().buffer_total()),
      chain_{snapshot_.records()} {}

bool Walk::next(RowBatch& batch) {
  batch.clear();
  while (stage_ != Stage::end) {
    for (std::size_t steps = 0; steps < steps_in_batch && batch.rows.size() < rows_in_batch;
         ++steps)
      if (!step(batch)) break;
    if (!batch.rows.empty()) return true;
  }
  return false;
}

bool Walk::step(RowBatch& batch) {
  switch (stage_) {
    case Stage::start:
      stage_ = Stage::live;
      start();
      if (snapshot_.records().has(root_record)) {
        RowSource root{.file = {root_record, facts_.sequence}};
        if (!facts_.names.empty()) root.link = 0;
        reach(root_record, 0);
        push(batch, root, {});
      }
      return true;
    case Stage::live: {
      NodeEntry entry;
      while (!levels_.empty() && !levels_.back().order.next(levels_.back().nodes, entry)) {
        levels_.pop_back();
        path_.resize(levels_.empty() ? 0 : levels_.back().path_size);
      }
      if (!levels_.empty()) {
        add_entry(batch, entry);
        return true;
      }
      std::ranges::sort(links_);
      stage_ = Stage::records;
      return true;
    }
    case Stage::records:
      step_record(batch);
      return true;
    case Stage::slack:
      step_slack(batch);
      return true;
    case Stage::end:
      break;
  }
  return false;
}

void Walk::start() {
  if (!snapshot_.records().has(root_record)) {
    findings_.warning("root-missing", snapshot_.volume().mft().offset_of(root_record),
                      "record 5, the root directory, is not usable");
    return;
  }
  snapshot_.records().assemble_names(root_record, facts_);
  const auto* directory = snapshot_.directories().find(root_record);
  entered_[root_record] = true;
  if (directory)
    levels_.push_back(
        {.directory = directory, .reference = facts_.reference(), .nodes = {*this, *directory}});
}

std::vector<bool>::reference Walk::Nodes::read(u64 buffer) {
  return walk_.read_buffers_[directory_.first_buffer + buffer];
}

std::optional<NodeReader> Walk::Nodes::at(u32 piece) {
  if (piece == Arena::none) return std::nullopt;
  return NodeReader{walk_.snapshot_.directories().node(piece)};
}

std::optional<u64> Walk::Nodes::offset() const {
  return walk_.snapshot_.volume().mft().offset_of(directory_.record);
}

std::optional<NodeReader> Walk::Nodes::root() {
  return at(directory_.root);
}

std::optional<NodeReader> Walk::Nodes::child(u64 vcn) {
  const u64 number = vcn >> directory_.vcn_shift;
  const bool aligned = number << directory_.vcn_shift == vcn;
  const u32 piece =
      aligned ? walk_.snapshot_.directories().buffer(directory_, number) : Arena::none;
  if (piece == Arena::none) {
    walk_.findings_.warning("index-child", offset(),
                            "the index of directory {} leads to VCN {}, where there is no node",
                            directory_.record, vcn);
    return std::nullopt;
  }
  if (read(number)) {
    walk_.findings_.warning("index-loop", offset(),
                            "the index of directory {} leads to VCN {} twice", directory_.record,
                            vcn);
    return std::nullopt;
  }
  read(number) = true;
  return at(piece);
}

std::optional<NodeReader> Walk::Nodes::next_detached() {
  while (next_ < directory_.buffer_count) {
    const u64 number = next_++;
    const u32 piece = walk_.snapshot_.directories().buffer(directory_, number);
    if (piece == Arena::none || read(number)) continue;
    read(number) = true;
    // Without an index every buffer is one that nothing leads to.
    if (!walk_.snapshot_.volume().mft().extracted())
      walk_.findings_.warning("index-detached", offset(),
                              "no node of the index of directory {} leads to its buffer {}",
                              directory_.record, number);
    return at(piece);
  }
  return std::nullopt;
}

// What a state says of the volume, whether its rows are listed or not.
void Walk::note_state(const RowSource& row) {
  ++counts_[static_cast<std::size_t>(row.state)];
  const u64 record = row.file.record;
  const auto offset = [&] { return snapshot_.volume().mft().offset_of(record); };
  switch (row.state) {
    case State::unreachable:
      findings_.warning("file-unreachable", offset(),
                        "record {} is in use, but no directory lists its name", record);
      break;
    case State::detached:
      findings_.warning("file-detached", offset(),
                        "record {} is in use, but its directory no longer exists", record);
      break;
    case State::unnamed:
      // NTFS keeps the records before these for itself, some without a name.
      if (record >= first_user_record)
        findings_.warning("file-unnamed", offset(), "record {} is in use, but has no name", record);
      break;
    case State::stale:
      ++stale_reasons_[static_cast<std::size_t>(find_stale_reason(snapshot_.records(), row.file))];
      break;
    case State::live:
    case State::deleted:
    case State::slack:
      break;
  }
}

// What is told of a file again, for another of its names, as far as the image justifies it.
bool Walk::may_repeat(u64 record) {
  const auto [known, added] = stream_sizes_.try_emplace(record);
  if (added) {
    RecordFacts facts;
    snapshot_.records().assemble(record, facts);
    for (const auto& attribute : facts.attributes) known->second += size_as_text(attribute);
  }
  if (known->second > repeats_left_) return false;
  repeats_left_ -= known->second;
  return true;
}

void Walk::push(RowBatch& batch, RowSource row, std::string_view parent_path) {
  note_state(row);
  if (row.has_record) {
    const u64 record = row.file.record;
    row.first_of_record = !listed_[record];
    row.streams_left_out = !row.first_of_record && !may_repeat(record);
    listed_[record] = true;
  }
  row.wanted = states_.contains(row.state);
  // Siblings share the text of their directory's path.
  const auto last = batch.rows.empty() ? std::string_view{} : batch.parent_path(batch.rows.back());
  if (!batch.rows.empty() && last == parent_path) {
    row.path_start = batch.rows.back().path_start;
  } else {
    row.path_start = batch.paths.size();
    batch.paths += parent_path;
  }
  row.path_length = parent_path.size();
  batch.rows.push_back(row);
}

void Walk::reach(u64 record, u32 link) {
  reached_[record] = true;
  confirmed_[record] = true;
  if (snapshot_.records().summary(record).several_links)
    links_.emplace_back(static_cast<u32>(record), link);
}

bool Walk::was_reached(u64 record, u32 link) const {
  return std::ranges::binary_search(links_, std::pair{static_cast<u32>(record), link});
}

void Walk::add_entry(RowBatch& batch, const NodeEntry& entry) {
  const auto& records = snapshot_.records();
  auto& level = levels_.back();
  if (level.directory->may_repeat && entry.match == EntryMatch::listed &&
      !level.seen.emplace(entry.file.record, entry.link).second)
    return;
  RowSource row{.file = entry.file, .parent = level.reference, .indexed = entry.indexed};
  row.path_cut = path_.starts_with("/<");
  row.stale_size = entry.stale_size;
  if (entry.match == EntryMatch::listed) {
    row.link = entry.link;
    row.packed_times = entry.packed_times;
  } else {
    row.name = entry.name;
    row.index = entry.times;
    row.entry = entry.facts;
    row.unlisted = entry.match == EntryMatch::unlisted;
  }
  if (entry.match == EntryMatch::stale) {
    row.state = State::stale;
    row.has_record = false;
    push(batch, row, path_);
    return;
  }
  const auto summary = records.summary(entry.file.record);
  row.file.sequence = summary.sequence;
  if (row.link) {
    reach(entry.file.record, *row.link);
  } else {
    reached_[entry.file.record] = true;
  }
  const bool enter_it = summary.directory && !entered_[entry.file.record];
  row.directory_again = summary.directory && !enter_it;
  push(batch, row, path_);
  if (!enter_it) return;
  records.assemble_names(entry.file.record, facts_);
  enter(row, facts_);
}

void Walk::enter(const RowSource& row, const RecordFacts& facts) {
  entered_[row.file.record] = true;
  const auto* directory = snapshot_.directories().find(row.file.record);
  if (!directory) return;
  const bool named = row.link && *row.link < facts.names.size();
  const auto name = named ? facts.names[*row.link].name : row.name;
  if (path_.size() + name.units() * 3 + 1 > longest_path) {
    findings_.info("path-cut", snapshot_.volume().mft().offset_of(row.file.record),
                   "paths longer than {} bytes start at one of their directories", longest_path);
    path_ = broken_path(row.file);
  } else {
    path_ += '/';
    append_exact(path_, name);
  }
  levels_.push_back({.directory = directory,
                     .reference = facts.reference(),
                     .nodes = {*this, *directory},
                     .path_size = path_.size()});
}

void Walk::step_record(RowBatch& batch) {
  const auto& records = snapshot_.records();
  if (next_record_ >= records.size()) {
    stage_ = Stage::slack;
    return;
  }
  const u64 record = next_record_++;
  if (records.has(record)) add_unreached(batch, record);
}

void Walk::add_unreached(RowBatch& batch, u64 record) {
  const auto& records = snapshot_.records();
  const auto summary = records.summary(record);
  // Nearly all: every link is listed already.
  if (confirmed_[record] && summary.in_use && !summary.extension && !summary.several_links) return;
  if (summary.extension) {
    records.unpack(record, facts_);
    const auto base = facts_.base;
    if (records.has(base.record) && !records.summary(base.record).extension) {
      RecordFacts owner;
      records.unpack(base.record, owner);
      if (belongs_to(facts_, owner)) return;
    }
    // What is left of a file whose base record has another file now.
    if (facts_.names.empty() && facts_.attributes.empty()) return;
  } else {
    records.assemble(record, facts_);
  }
  if (was_never_used(facts_)) return;
  const auto add = [&](State state, std::optional<u32> link) {
    RowSource row{.state = state, .file = facts_.reference(), .link = link};
    if (!link) {
      push(batch, row, {});
      return;
    }
    const auto parent = facts_.names[*link].parent;
    row.parent = parent;
    const auto path = chain_.find(parent);
    row.path_cut = !path.whole;
    if (row.state == State::unreachable && !path.live) row.state = State::detached;
    push(batch, row, path.text);
  };
  const State state = !summary.in_use     ? State::deleted
                      : summary.extension ? State::detached
                                          : State::unreachable;
  if (facts_.names.empty()) {
    if (summary.in_use && reached_[record]) return;
    // The root's own name may be lost, and it is reached all the same.
    add(state == State::unreachable ? State::unnamed : state, std::nullopt);
    return;
  }
  const ShortHalves halves{facts_};
  for (u32 link = 0; link < facts_.names.size(); ++link) {
    if (halves.contains(facts_.names[link])) continue;
    if (summary.in_use && confirmed_[record] &&
        (record == root_record || !summary.several_links || was_reached(record, link)))
      continue;
    add(state, link);
  }
}

void Walk::step_slack(RowBatch& batch) {
  const auto& slack = snapshot_.directories().slack();
  if (next_slack_ >= slack.size()) {
    stage_ = Stage::end;
    return;
  }
  const auto& place = slack[next_slack_++];
  NodeReader node{snapshot_.directories().node(place.piece)};
  const auto entry = node.next();
  if (!entry || !entry->named) return;
  const auto directory = snapshot_.records().summary(place.directory);
  RowSource row{.state = State::slack,
                .file = entry->file,
                .has_record = false,
                .name = entry->name,
                .parent = {place.directory, directory.sequence},
                .index = entry->times,
                .entry = entry->facts,
                .indexed = true};
  row.entry->offset = place.offset;
  row.entry->copies = place.copies;
  const auto path = chain_.find(row.parent);
  row.path_cut = !path.whole;
  push(batch, row, path.text);
}

}  // namespace coldtrace::ntfs
