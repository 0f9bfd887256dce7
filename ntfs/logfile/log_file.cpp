#include "coldtrace/ntfs/logfile/log_file.hpp"

#include <algorithm>
#include <utility>

#include "coldtrace/ntfs/structures/fixup.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u32 magic_rcrd = 0x44524352;  // "RCRD"
constexpr std::byte erased_byte{0xff};
constexpr u64 largest_log = u64{4} << 30;
constexpr u32 largest_data = 1 << 20;
// All data together may be as much as records that lie across pages justify.
constexpr u64 data_room_factor = 4;
// Numbers above the current one are of pages that a crash left half written, and not far above.
constexpr u64 most_ahead = u64{1} << 40;

u64 last_end_lsn(core::ByteView page) {
  return core::load<u64>(page, 0x20).value_or(0);
}

}  // namespace

LogStream LogStream::of_file(core::Borrowed<core::ImageSource> file) {
  return {file, std::min(file.get().size(), largest_log)};
}

std::optional<LogStream> LogStream::of_volume(core::Borrowed<Volume> given) {
  const auto& volume = given.get();
  const auto file = volume.read_file(LogStream::record);
  if (!file || volume.mft().extracted()) return std::nullopt;
  const auto* attribute = file->facts.find(AttributeType::data);
  if (!attribute || attribute->resident) return std::nullopt;
  ExtentFaults faults;
  LogStream stream{volume.image(), std::min(attribute->size, largest_log)};
  stream.clusters_ = volume.mft().clusters();
  stream.extents_ =
      collect_extents(file->facts, AttributeType::data, attribute->name, stream.clusters_, faults);
  if (stream.extents_.empty()) return std::nullopt;
  return stream;
}

bool LogStream::is_erased() const {
  std::vector<std::byte> bytes(std::min<u64>(size(), u64{1} << 16));
  for (u64 at = 0; at < size(); at += bytes.size()) {
    const auto part = std::span{bytes}.first(std::min<u64>(bytes.size(), size() - at));
    if (!read(at, part) || !std::ranges::all_of(part, [](std::byte b) { return b == erased_byte; }))
      return false;
  }
  return size() > 0;
}

bool is_erased_log(core::Borrowed<core::ImageSource> file) {
  return file.get().size() <= largest_log && LogStream::of_file(file).is_erased();
}

LogFile LogFile::read(core::Borrowed<LogStream> given, core::Findings& findings) {
  const auto& stream = given.get();
  LogFile log{stream};
  log.data_room_ = stream.size() * data_room_factor;
  log.read_restarts(findings);
  if (log.restart() == nullptr) return log;
  if (const u64 size = log.restart()->file_size; size > stream.size() && size <= largest_log)
    findings.warning("log-unread", std::nullopt,
                     "$LogFile is cut off: it should have {} bytes and has {}", size,
                     stream.size());
  log.read_copies(findings);
  log.find_records(findings);
  return log;
}

void LogFile::read_restarts(core::Findings& findings) {
  constexpr u32 size = LogRestart::page_size;
  erased_ = stream_->is_erased();
  if (erased_) return;
  std::vector<std::byte> page(size);
  for (u64 offset = 0; offset < 2 * u64{size}; offset += size) {
    if (offset + size > stream_->size() || !stream_->read(offset, page)) {
      findings.warning("log-unread", stream_->offset_of(offset),
                       "restart page {} of $LogFile cannot be read", offset / size);
      continue;
    }
    auto restart = read_log_restart(page, offset);
    if (!restart) {
      findings.warning("log-restart", stream_->offset_of(offset), "restart page {} of $LogFile: {}",
                       offset / size, core::to_string(restart.error()));
      continue;
    }
    if (restart->torn)
      findings.warning("log-restart", stream_->offset_of(offset),
                       "restart page {} of $LogFile was only partly written", offset / size);
    restarts_.push_back(std::move(*restart));
  }
  for (std::size_t i = 0; i < restarts_.size(); ++i) {
    const auto& restart = restarts_[i];
    if (restart.torn && newest_ && !restarts_[*newest_].torn) continue;
    if (!newest_ || (restarts_[*newest_].torn && !restart.torn) ||
        restart.current_lsn > restarts_[*newest_].current_lsn)
      newest_ = i;
  }
}

LogFile::PageState LogFile::load(u64 offset, std::vector<std::byte>& page) const {
  page.resize(restart()->log_page_size);
  if (!stream_->read(offset, page)) return PageState::unread;
  if (core::load<u32>(page, 0) != magic_rcrd) return PageState::blank;
  const auto fixup = apply_fixups(page);
  return fixup.torn || fixup.incomplete ? PageState::torn : PageState::good;
}

// Once for each page, however often it is needed.
void LogFile::note_unread(u64 offset, core::Findings& findings) {
  if (!unread_.insert(offset).second) return;
  ++counts_.unread;
  findings.warning("log-unread", stream_->offset_of(offset), "a page of $LogFile cannot be read");
}

// Pages 2 and 3, and from version 2 on to page 33, are the newest contents of pages further on.
void LogFile::read_copies(core::Findings& findings) {
  const auto& restart = *this->restart();
  const u64 size = restart.log_page_size;
  std::vector<std::byte> page, other;
  for (u64 number = u64{2} * LogRestart::page_size / size; number < restart.first_page();
       ++number) {
    if ((number + 1) * size > stream_->size()) continue;
    const auto state = load(number * size, page);
    if (state == PageState::unread) note_unread(number * size, findings);
    if (state != PageState::good) continue;
    ++counts_.copies;
    const u64 target = restart.major < 2 ? core::load<u64>(page, 8).value_or(0)
                                         : core::load<u32>(page, 0x3c).value_or(0);
    if (target % size != 0 || target < restart.first_page() * size ||
        target > stream_->size() - size)
      continue;
    const auto known = copies_.find(target);
    const bool exists = known != copies_.end() || load(target, other) == PageState::good;
    const auto& old = known != copies_.end() ? known->second : other;
    if (exists && last_end_lsn(page) <= last_end_lsn(old)) continue;
    copies_[target] = page;
    ++counts_.applied;
  }
}

std::optional<core::ByteView> LogFile::page_at(u64 offset) {
  if (const auto copy = copies_.find(offset); copy != copies_.end()) return copy->second;
  if (page_offset_ != offset) {
    page_state_ = load(offset, page_);
    page_offset_ = offset;
  }
  if (page_state_ != PageState::good) return std::nullopt;
  return page_;
}

void LogFile::find_records(core::Findings& findings) {
  const auto& restart = *this->restart();
  const u64 size = restart.log_page_size;
  for (u64 offset = restart.first_page() * size; offset + size <= stream_->size(); offset += size) {
    const auto page = page_at(offset);
    if (page) {
      ++counts_.pages;
      find_records_of(offset, *page);
    } else if (page_state_ == PageState::torn) {
      ++counts_.torn;
      findings.info("log-page-torn", stream_->offset_of(offset),
                    "a page of $LogFile was only partly written");
    } else if (page_state_ == PageState::unread) {
      note_unread(offset, findings);
    }
  }
  std::ranges::sort(records_, [](const LogRecord& a, const LogRecord& b) {
    return a.lsn != b.lsn ? a.lsn < b.lsn : a.offset < b.offset;
  });
}

void LogFile::find_records_of(u64 offset, core::ByteView page) {
  const auto& restart = *this->restart();
  const u64 header = restart.record_header_size;
  for (u64 at = restart.data_offset; at + header <= page.size();) {
    const auto fields = core::Fields<48>::at(page, at);
    const u64 lsn = fields->get<u64, 0>();
    const u32 size = fields->get<u32, 24>();
    const u32 type = fields->get<u32, 32>();
    if (lsn == 0 || restart.offset_of(lsn) != offset + at || type < 1 ||
        type > LogRecord::type_restart || size >= largest_data ||
        (lsn > restart.current_lsn && lsn - restart.current_lsn > most_ahead)) {
      at += 8;
      continue;
    }
    records_.push_back(
        {.lsn = lsn,
         .offset = offset + at,
         .previous_lsn = fields->get<u64, 8>(),
         .type = type,
         .transaction = fields->get<u32, 36>(),
         .size = size,
         .redo =
             type == LogRecord::type_restart ? std::nullopt : core::load<u16>(page, at + header),
         .undo = type == LogRecord::type_restart ? std::nullopt
                                                 : core::load<u16>(page, at + header + 2)});
    at = std::min<u64>(at + header + size, page.size());
    at = (at + 7) & ~u64{7};
  }
}

std::optional<std::vector<std::byte>> LogFile::read_data(const LogRecord& record,
                                                         core::Findings& findings) {
  const auto& restart = *this->restart();
  const u64 size = restart.log_page_size;
  u64 page_offset = record.offset / size * size;
  const auto needed = [&] {
    auto page = page_at(page_offset);
    if (!page && page_state_ == PageState::unread) note_unread(page_offset, findings);
    return page;
  };
  const auto first = needed();
  if (!first || record.size > data_room_) return std::nullopt;
  data_room_ -= record.size;
  std::vector<std::byte> data;
  const u64 start = record.offset - page_offset + restart.record_header_size;
  const auto take = [&](core::ByteView page, u64 from) {
    const auto part =
        page.subspan(from, std::min<u64>(page.size() - from, record.size - data.size()));
    data.insert(data.end(), part.begin(), part.end());
  };
  take(*first, start);
  while (data.size() < record.size) {
    page_offset += size;
    if (page_offset + size > stream_->size()) page_offset = restart.first_page() * size;
    const auto page = needed();
    if (!page) return std::nullopt;
    take(*page, restart.data_offset);
  }
  return data;
}

}  // namespace coldtrace::ntfs
