#include "coldtrace/ntfs/journal/journal_times.hpp"

#include <algorithm>
#include <utility>

#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/journal/usn_names.hpp"

namespace coldtrace::ntfs {
namespace {

// What lies between a time that NTFS writes and the record of the journal is far less.
constexpr u64 tolerance = u64{60} * 10'000'000;
// Files that never close, as a crash leaves them, must not fill the memory.
constexpr std::size_t most_open = std::size_t{1} << 20;

bool are_apart(core::FileTime a, core::FileTime b) {
  return std::max(a, b).ticks - std::min(a, b).ticks > tolerance;
}

}  // namespace

// Reasons add up until the file is closed: those that are looked at and that this record is the
// first with. One that closes repeats what others said before, perhaps long before.
u32 JournalTimes::fresh_reasons(u64 file, u32 reasons, bool closes) {
  if (closes) {
    open_.erase(file);
    return 0;
  }
  const u32 looked_at = reasons & (usn_file_create | usn_basic_info_change);
  if (looked_at == 0) return 0;
  if (open_.size() >= most_open) open_.clear();
  auto& known = open_[file];
  return looked_at & ~std::exchange(known, known | looked_at);
}

void JournalTimes::ask_for_volume() {
  for (u64 number = first_user_record; number < records_.size(); ++number) {
    if (!records_.has(number)) continue;
    const auto summary = records_.summary(number);
    if (!summary.in_use || summary.extension) continue;
    facts_.clear();
    records_.unpack(number, facts_);
    const auto& information = facts_.information;
    if (information && information->usn.value_or(0) != 0)
      last_.emplace(*information->usn, to_stored({number, summary.sequence}));
  }
}

void JournalTimes::compare_number(const UsnRecord& record) {
  if (!first_number_) first_number_ = record.usn;
  last_number_ = record.usn;
  const auto known = last_.find(record.usn);
  if (known == last_.end()) return;
  ++(known->second == to_stored(record.file) ? agreeing_ : contradicting_);
  last_.erase(known);
}

void JournalTimes::report_volume(core::Findings& findings) const {
  u64 without = 0;  // record, where there would be one
  for (const auto& [number, file] : last_)
    if (first_number_ && number >= *first_number_ && number <= last_number_) ++without;
  const u64 against = contradicting_ + without;
  if (against > agreeing_)
    findings.warning(
        "mft-other", std::nullopt,
        "for {}, and for {} it has one: the journal belongs to another volume, and paths are wrong",
        core::counted(against,
                      "file of $MFT the journal has no record with the number that it states",
                      "files of $MFT the journal has no record with the number that they state"),
        agreeing_);
}

void JournalTimes::add(const UsnRecord& record, std::optional<u64> offset,
                       core::Findings& findings) {
  if (record.major == 4 || record.file_high != 0) return;
  if (!last_.empty()) compare_number(record);
  const u64 file = to_stored(record.file);
  const u32 fresh = fresh_reasons(file, record.reasons, record.closes());
  if (fresh == 0 || !record.time || record.file.record < first_user_record ||
      !records_.has(record.file.record))
    return;
  const auto summary = records_.summary(record.file.record);
  if (!summary.in_use || summary.sequence != record.file.sequence) return;
  facts_.clear();
  records_.unpack(record.file.record, facts_);
  if (!facts_.information || facts_.damaged || facts_.torn) return;
  const auto& times = facts_.information->times;
  if ((fresh & usn_file_create) != 0 && are_apart(times.created, *record.time))
    findings.info("time-journal-created", offset,
                  "record {}: created {} by the journal and {} by $STANDARD_INFORMATION",
                  record.file.record, core::to_string(*record.time),
                  core::to_string(times.created));
  const auto newest = std::max({times.created, times.modified, times.changed, times.accessed});
  if ((fresh & usn_basic_info_change) != 0 && *record.time > newest &&
      are_apart(newest, *record.time) && told_.insert(file).second)
    findings.info("time-journal-changed", offset,
                  "record {}: times or attributes set {} by the journal, and the last time of "
                  "$STANDARD_INFORMATION is {}",
                  record.file.record, core::to_string(*record.time), core::to_string(newest));
}

}  // namespace coldtrace::ntfs
