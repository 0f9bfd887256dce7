#include "coldtrace/ntfs/journal/journal_pages.hpp"

#include <algorithm>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/journal/usn_names.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 page_size = UsnRecord::page_size;

bool has_known_reasons(u32 reasons) {
  for (const auto& reason : usn_reasons()) reasons &= ~reason.bit;
  return reasons == 0;
}

// One page of a block.
class Page {
 public:
  Page(core::ByteView bytes, u64 position, JournalBlock& block)
      : bytes_{bytes}, position_{position}, block_{block} {}

  void read() {
    while (at_ < bytes_.size()) {
      const auto length = core::load<u32>(bytes_, at_);
      if (length.value_or(0) == 0 && core::is_zero(bytes_.subspan(at_))) return;
      if (const auto record = record_at(at_)) {
        block_.records.push_back({*record, position_ + at_});
        at_ += record->length;
      } else {
        search();
      }
    }
  }

 private:
  std::optional<UsnRecord> record_at(u64 at) const {
    const u64 position = position_ + at;
    const auto record = read_usn_record(bytes_.subspan(at), position);
    return record ? std::optional{*record} : std::nullopt;
  }

  // Goes to the next record behind what is none.
  void search() {
    const u64 start = at_;
    for (at_ += 8; at_ < bytes_.size(); at_ += 8) {
      const auto record = record_at(at_);
      if (record && is_likely_record(*record, position_ + at_)) break;
    }
    at_ = std::min<u64>(at_, bytes_.size());
    block_.losses.push_back({JournalLoss::Why::damaged, position_ + start, at_ - start});
  }

  core::ByteView bytes_;
  u64 position_;
  JournalBlock& block_;
  u64 at_ = 0;
};

void add_unread(JournalBlock& block, u64 position, u64 length) {
  auto* const last = block.losses.empty() ? nullptr : &block.losses.back();
  if (last && last->why == JournalLoss::Why::unread && last->position + last->length == position)
    last->length += length;
  else
    block.losses.push_back({JournalLoss::Why::unread, position, length});
}

}  // namespace

bool is_likely_record(const UsnRecord& record, u64 position) {
  return record.major != 4 && record.usn % page_size == position % page_size &&
         record.reasons != 0 && has_known_reasons(record.reasons) && record.file.sequence != 0;
}

void read_journal_block(const JournalStream& stream, const core::ByteRange& range,
                        JournalBlock& block) {
  block.bytes.resize(range.length);
  block.records.clear();
  block.losses.clear();
  const bool whole = stream.read(range.offset, block.bytes).has_value();
  for (u64 at = 0; at < range.length; at += page_size) {
    const auto page = std::span{block.bytes}.subspan(at, std::min(page_size, range.length - at));
    const u64 position = range.offset + at;
    if (!whole && !stream.read(position, page)) {
      add_unread(block, position, page.size());
      continue;
    }
    Page{page, position, block}.read();
  }
}

bool follows(const UsnRecord& first, const UsnRecord& second) {
  const u64 end = first.end();
  if (second.usn == end) return true;
  const u64 room = (page_size - end % page_size) % page_size;
  return second.usn == end + room && second.length > room;
}

}  // namespace coldtrace::ntfs
