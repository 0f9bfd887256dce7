#include "core/files/usn_journal.hpp"

#include <algorithm>

#include "coldtrace/core/reader.hpp"
#include "core/files/signature.hpp"

namespace coldtrace::core {
namespace {

constexpr u64 page_size = 4096;
constexpr u64 tries = 256;
// What Windows keeps of a journal is hardly ever less (fsutil usn createjournal: 32 MiB).
constexpr u64 least_kept = u64{16} << 20;
constexpr u64 most_places = 4096;

// Of the pages of a file, which are asked one by one, the first with anything in it decides.
class Pages {
 public:
  Pages(u64 size, const ReadAt& read) : size_{size}, read_{read} {}

  u64 count() const { return (size_ - 1) / page_size + 1; }
  bool decided() const { return decided_; }
  bool answer() const { return answer_; }

  void ask(u64 page) { ask(read_(page * page_size, page_size)); }

  // From the last one back.
  void ask_end() {
    const u64 start = (count() - std::min(count(), tries)) * page_size;
    const auto end = read_(start, size_ - start);
    for (u64 behind = end.size(); behind > 0 && !decided();) {
      const u64 at = (behind - 1) / page_size * page_size;
      ask(ByteView{end}.subspan(at, behind - at));
      behind = at;
    }
  }

 private:
  void ask(ByteView page) {
    if (is_zero(page)) return;
    decided_ = true;
    answer_ = is_usn_record(page);
  }

  u64 size_;
  const ReadAt& read_;
  bool decided_ = false;
  bool answer_ = false;
};

}  // namespace

// USN_RECORD_V2, V3 and V4 (Microsoft, winioctl.h): no record crosses a page, so that every page
// of the journal starts with one.
bool is_usn_record(ByteView page) {
  const auto header = Fields<0x40>::at(page, 0);
  if (!header) return false;
  const u64 length = header->get<u32, 0>();
  const auto major = header->get<u16, 4>();
  if (header->get<u16, 6>() != 0 || length > page_size || length % 8 != 0) return false;
  if (major == 4)
    return header->get<u16, 0x3e>() == 16 && length == 0x40 + u64{16} * header->get<u16, 0x3c>();
  if (major != 2 && major != 3) return false;
  const u64 name = major == 2 ? 0x38 : 0x48;
  const auto name_length = load<u16>(page, name);
  const auto name_offset = load<u16>(page, name + 2);
  return name_length && name_offset && *name_offset == name + 4 && *name_length % 2 == 0 &&
         *name_length > 0 && u64{*name_offset} + *name_length <= length;
}

// Old pages are holes, and a copy may have empty ones behind its end: the last MiB is looked at,
// what lies first behind holes, then pages all over the file.
bool holds_usn_journal(u64 size, const ReadAt& read, const NextData& next_data) {
  Pages pages{size, read};
  pages.ask_end();
  u64 at = next_data(0);
  for (u64 i = 0; i < tries && at < size && !pages.decided(); ++i) {
    pages.ask(at / page_size);
    at = next_data(at / page_size * page_size + page_size);
  }
  const u64 places = std::clamp(size / least_kept, tries, most_places);
  for (u64 i = places; i > 0 && !pages.decided(); --i) {
    const u64 page = pages.count() * (i - 1) / places;
    if (next_data(page * page_size) < (page + 1) * page_size) pages.ask(page);
  }
  return pages.answer();
}

}  // namespace coldtrace::core
