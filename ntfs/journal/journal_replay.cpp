#include "coldtrace/ntfs/journal/journal_replay.hpp"

#include <algorithm>

#include "coldtrace/core/parallel.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/path_chain.hpp"

namespace coldtrace::ntfs {
namespace {

// Paths may be many times as long as the records that have them; real ones are not.
constexpr u64 path_room_at_least = u64{256} << 20;
constexpr u64 path_room_per_byte = 32;  // of the journal

u64 size_of(std::span<const core::ByteRange> blocks) {
  u64 size = 0;
  for (const auto& block : blocks) size += block.length;
  return size;
}

}  // namespace

std::string_view to_string(JournalGap::Lost lost) {
  switch (lost) {
    case JournalGap::Lost::unread:
      return "unread";
    case JournalGap::Lost::damaged:
      return "damaged";
    case JournalGap::Lost::missing:
      break;
  }
  return "missing";
}

bool JournalBatch::append_path(const JournalRow& row, std::string& text) const {
  if (!row.path_known) return true;
  const bool root = row.record.file.record == root_record;
  const bool valid = root || append_utf8(text, directory_of(row));
  text += '/';
  return (root || append_utf8(text, row.record.name)) && valid;
}

std::string JournalBatch::exact_path(const JournalRow& row) const {
  if (!row.path_known) return {};
  const bool root = row.record.file.record == root_record;
  std::string text{root ? std::string_view{} : directory_of(row)};
  text += '/';
  if (!root) append_exact(text, row.record.name);
  return text;
}

JournalReplay::JournalReplay(core::Borrowed<JournalStream> stream, DirectoryHistory directories,
                             Options options)
    : stream_{stream.get()},
      directories_{std::move(directories)},
      options_{std::move(options)},
      path_room_{path_room_at_least + size_of(stream_.blocks()) * path_room_per_byte} {
  rewind();
  if (!options_.current) certain_from_ = ~u64{0};
}

// Blocks of zeros are not read again. Threads read blocks, of which one at a time is looked at.
void JournalReplay::rewind() {
  struct ReadBlock {
    core::ByteRange range{};
    JournalBlock block;
  };
  std::optional<UsnRecord> newer;  // the oldest record of the blocks behind this one
  u64 newer_position = 0;
  bool lossless = true;
  const auto end_of_certainty = [&](u64 position) {
    if (lossless) certain_from_ = position;
    lossless = false;
  };
  const auto blocks = stream_.blocks();
  auto* const progress = options_.begin ? options_.begin(size_of(blocks)) : nullptr;
  const auto look_at = [&](const core::ByteRange& range, const JournalBlock& block) {
    if (progress != nullptr) progress->add(range.length, block.records.size());
    if (block.records.empty() && block.losses.empty()) return;
    blocks_.push_back(range);
    auto loss = block.losses.rbegin();
    for (auto at = block.records.rbegin(); at != block.records.rend(); ++at) {
      const auto& [record, position] = *at;
      for (; loss != block.losses.rend() && loss->position > position; ++loss)
        end_of_certainty(loss->position);
      if (newer && !follows(record, *newer)) end_of_certainty(newer_position);
      if (!newer && ends_early(record)) end_of_certainty(~u64{0});
      directories_.rewind(record, position, lossless);
      newer = record;
      newer_position = position;
    }
    for (; loss != block.losses.rend(); ++loss) end_of_certainty(loss->position);
  };
  auto range = blocks.rbegin();
  core::ordered_pipeline<ReadBlock>(
      options_.jobs,
      [&](ReadBlock& read) {
        if (range == blocks.rend()) return false;
        read.range = *range++;
        return true;
      },
      [&](unsigned, ReadBlock& read) { read_journal_block(stream_, read.range, read.block); },
      [&](ReadBlock& read) { look_at(read.range, read.block); });
  std::ranges::reverse(blocks_);
  size_ = size_of(blocks_);
}

void JournalReplay::add_losses(JournalBatch& batch, u64 end, std::size_t& loss,
                               core::Findings& findings) {
  for (; loss < batch.block.losses.size() && batch.block.losses[loss].position < end; ++loss) {
    const auto& [why, position, length] = batch.block.losses[loss];
    const auto offset = stream_.offset_of(position);
    const bool unread = why == JournalLoss::Why::unread;
    if (unread)
      findings.warning("journal-unread", offset,
                       "a part of the journal cannot be read, and its records are lost");
    else
      findings.warning("journal-record", offset, "{} neither a record nor the end of a page",
                       core::counted(length, "byte of the journal is", "bytes of the journal are"));
    batch.gaps.push_back({unread ? JournalGap::Lost::unread : JournalGap::Lost::damaged, offset,
                          std::nullopt, length, batch.rows.size()});
    ++counts_.gaps;
    lost_since_ = true;
  }
}

// Whether a directory was changed behind the last record: $MFT is newer than the journal.
bool JournalReplay::ends_early(const UsnRecord& last) const {
  return options_.current && directories_.newest_usn() > last.usn;
}

void JournalReplay::tell_end(JournalBatch& batch, core::Findings& findings) {
  if (!last_ || lost_since_ || !ends_early(*last_)) return;
  const u64 end = last_->end();
  const u64 newest = directories_.newest_usn();
  findings.warning("journal-gap", std::nullopt,
                   "the journal ends at {:#x}, but directories of $MFT state records up to {:#x}; "
                   "paths are uncertain",
                   end, newest);
  batch.gaps.push_back({JournalGap::Lost::missing, std::nullopt, end,
                        newest > end ? newest - end : 0, batch.rows.size()});
  ++counts_.gaps;
}

// Checks the record's number by its place and by the record before it.
void JournalReplay::check(const JournalRecord& record, JournalBatch& batch,
                          core::Findings& findings) {
  const u64 usn = record.record.usn;
  const u64 position = record.position;
  if (options_.in_place && usn != position)
    findings.warning("journal-usn", stream_.offset_of(position),
                     "a record at byte {:#x} of the journal says it is at {:#x}", position, usn);
  if (last_ && usn < last_->end())
    findings.warning("journal-order", stream_.offset_of(position),
                     "record {:#x} follows record {:#x}: they belong to two journals", usn,
                     last_->usn);
  if (last_ && !lost_since_ && !follows(*last_, record.record)) {
    const u64 end = last_->end();
    const u64 length = usn > end ? usn - end : 0;
    findings.warning("journal-gap", stream_.offset_of(position),
                     "records from {:#x} to {:#x} are missing; paths before them are uncertain",
                     end, usn);
    batch.gaps.push_back({JournalGap::Lost::missing, std::nullopt, end, length, batch.rows.size()});
    ++counts_.gaps;
  }
  lost_since_ = false;
  last_ = record.record;
}

// Records of version 4 stand before one of the same file that has what they lack, and the reasons
// of a file add up to there. Observed in 7 of 7.
void JournalReplay::complete(JournalRow& row, const UsnRecord* behind) const {
  if (row.record.major != 4 || !behind || behind->major == 4 || behind->file != row.record.file ||
      (row.record.reasons & ~behind->reasons) != 0)
    return;
  row.borrowed = true;
  row.record.name = behind->name;
  row.record.time = behind->time;
}

void JournalReplay::add_path(JournalRow& row, JournalBatch& batch, core::Findings& findings) {
  row.path_known = !row.record.name.empty();
  if (!row.path_known) return;
  const auto directory = directories_.find(row.record.parent);
  auto text = directory.text;
  row.path_whole = directory.whole;
  std::string cut;
  if (text.size() > path_room_) {
    findings.warning("journal-paths", row.offset,
                     "paths of the journal are many times as long as its records; the remaining "
                     "ones start with the parent's reference");
    text = cut = broken_path(row.record.parent);
    row.path_whole = false;
  } else {
    path_room_ -= text.size();
  }
  // Mostly it is the path of the row before.
  const auto* last = batch.rows.empty() ? nullptr : &batch.rows.back();
  if (last && last->path_known && batch.directory_of(*last) == text) {
    row.path_start = last->path_start;
    row.path_length = last->path_length;
    return;
  }
  row.path_start = batch.paths.size();
  row.path_length = text.size();
  batch.paths += text;
}

void JournalReplay::add_row(const JournalRecord& record, std::optional<u64> offset,
                            const UsnRecord* behind, JournalBatch& batch,
                            core::Findings& findings) {
  JournalRow row{.record = record.record, .offset = offset};
  complete(row, behind);
  add_path(row, batch, findings);
  row.path_certain = row.path_whole && record.position >= certain_from_;
  if (options_.events) {
    auto event = events_.add(record.record, record.position, batch.exact_path(row));
    if (!event) return;
    row.record.reasons = event->reasons;
    row.record.sources = event->sources;
    row.event = batch.events.size();
    batch.events.push_back(std::move(*event));
    ++counts_.events;
  }
  if (row.path_known && !row.path_certain) ++counts_.uncertain_paths;
  batch.rows.push_back(row);
}

// The record behind one of version 4 and those of its file that follow it, which may be in the next
// block. It is looked for once for all of them.
const UsnRecord* JournalReplay::record_behind(JournalBatch& batch, std::size_t index) {
  const auto& records = batch.block.records;
  const auto& record = records[index].record;
  if (record.major != 4) return nullptr;
  if (index < chain_end_) return behind_chain_;
  const auto is_behind = [&](const JournalRecord& other) {
    return other.record.major != 4 || other.record.file != record.file;
  };
  const auto end =
      std::find_if(records.begin() + static_cast<std::ptrdiff_t>(index), records.end(), is_behind);
  chain_end_ = static_cast<std::size_t>(end - records.begin());
  behind_chain_ = end == records.end() ? nullptr : &end->record;
  if (behind_chain_ || next_block_ == blocks_.size()) return behind_chain_;
  const auto& next = blocks_[next_block_];
  for (u64 at = 0; at < next.length && !behind_chain_; at += UsnRecord::page_size) {
    read_journal_block(stream_,
                       {next.offset + at, std::min<u64>(next.length - at, UsnRecord::page_size)},
                       batch.ahead);
    const auto& ahead = batch.ahead.records;
    if (ahead.empty()) break;
    const auto found = std::ranges::find_if(ahead, is_behind);
    if (found != ahead.end()) behind_chain_ = &found->record;
  }
  return behind_chain_;
}

// Events that were not over when the journal ends, each at its last record.
bool JournalReplay::add_open_events(JournalBatch& batch, core::Findings& findings) {
  constexpr std::size_t most = 1024;
  if (!options_.events) return false;
  if (!open_) open_ = events_.take_open();
  const std::size_t end = std::min(open_->size(), next_open_ + most);
  constexpr u64 longest = UsnRecord::page_size;
  batch.block.bytes.resize((end - next_open_) * longest);
  for (std::size_t slot = 0; next_open_ < end; ++next_open_, ++slot) {
    auto& event = (*open_)[next_open_];
    const u64 position = event.last_position;
    const auto bytes = std::span{batch.block.bytes}.subspan(
        slot * longest, std::min(longest - position % longest, stream_.size() - position));
    if (!stream_.read(position, bytes)) continue;
    const auto record = read_usn_record(bytes, position);
    if (!record) continue;
    JournalRow row{.record = *record, .offset = stream_.offset_of(position)};
    row.record.reasons = event.reasons;
    row.record.sources = event.sources;
    add_path(row, batch, findings);
    row.path_certain = row.path_whole && certain_from_ == 0;
    if (row.path_known && !row.path_certain) ++counts_.uncertain_paths;
    row.event = batch.events.size();
    batch.events.push_back(std::move(event));
    batch.rows.push_back(row);
    ++counts_.open_events;
  }
  return !batch.rows.empty();
}

void JournalReplay::tell_rest(core::Findings& findings) const {
  if (events_.paths_left_out() > 0)
    findings.warning("journal-paths", std::nullopt,
                     "there is not enough memory for the old paths of {} renamed",
                     core::counted(events_.paths_left_out(), "file that was", "files that were"));
}

bool JournalReplay::next(JournalBatch& batch, core::Findings& findings) {
  batch.rows.clear();
  batch.gaps.clear();
  batch.events.clear();
  batch.paths.clear();
  batch.size = 0;
  if (next_block_ == blocks_.size()) {
    if (add_open_events(batch, findings)) return true;
    tell_rest(findings);
    return false;
  }
  const auto& range = blocks_[next_block_++];
  read_journal_block(stream_, range, batch.block);
  chain_end_ = 0;
  batch.size = range.length;
  std::size_t loss = 0;
  for (std::size_t i = 0; i < batch.block.records.size(); ++i) {
    const auto& record = batch.block.records[i];
    add_losses(batch, record.position, loss, findings);
    check(record, batch, findings);
    const auto offset = stream_.offset_of(record.position);
    if (options_.times != nullptr) options_.times->add(record.record, offset, findings);
    add_row(record, offset, record_behind(batch, i), batch, findings);
    directories_.replay(record.position);
    if (counts_.records++ == 0) counts_.first_usn = record.record.usn;
    counts_.last_usn = record.record.usn;
  }
  add_losses(batch, ~u64{0}, loss, findings);
  if (next_block_ == blocks_.size()) tell_end(batch, findings);
  return true;
}

}  // namespace coldtrace::ntfs
