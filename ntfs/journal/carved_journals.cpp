#include "coldtrace/ntfs/journal/carved_journals.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_set>

#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/journal/journal_pages.hpp"
#include "ntfs/volume/allocation_bitmap.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 page_size = UsnRecord::page_size;
constexpr u64 piece_size = u64{1} << 20;

// What a page says of its place in a journal.
struct PageNumbers {
  u64 usn;  // of its first byte
  core::FileTime first_time, last_time;
};

struct CarvedPage {
  PageNumbers numbers;
  u64 offset;  // from the start of the volume
  u64 hash;    // of its bytes: copies of a page are one
};

// Pages that may be of one journal.
struct Strand {
  std::vector<Extent> extents;
  core::FileTime last_time;
};

// FNV-1a.
u64 hash_of(core::ByteView bytes) {
  u64 hash = 0xcbf2'9ce4'8422'2325;
  for (const auto byte : bytes) hash = (hash ^ std::to_integer<u64>(byte)) * 0x100'0000'01b3;
  return hash;
}

// Nothing of a page that is of no journal.
std::optional<PageNumbers> read_page(core::ByteView page) {
  const auto length = core::load<u32>(page, 0).value_or(0);
  const auto major = core::load<u16>(page, 4).value_or(0);
  if (length < UsnRecord::smallest || length > page_size || length % 8 != 0 || major < 2 ||
      major > 4 || core::load<u16>(page, 6).value_or(1) != 0)
    return std::nullopt;
  std::optional<PageNumbers> numbers;
  for (u64 at = 0; at < page.size();) {
    const auto record = read_usn_record(page.subspan(at), at);
    if (!record) break;
    if (is_likely_record(*record, at)) {
      const auto time = record->time.value_or(core::FileTime{});
      if (!numbers) numbers = PageNumbers{record->usn - at, time, time};
      numbers->last_time = time;
    }
    at += record->length;
  }
  return numbers;
}

class Search {
 public:
  Search(const Volume& volume, std::span<const ChangeJournal> known, core::Progress* progress)
      : volume_{volume},
        map_{volume.mft().clusters()},
        unit_{std::min<u64>(map_.cluster_size, page_size)},
        progress_{progress},
        bitmap_{volume},
        journals_{known} {
    for (const auto& journal : known)
      for (const auto& block : journal.stream.blocks())
        for (u64 at = block.offset; at < block.offset + block.length; at += page_size)
          if (const auto offset = journal.stream.offset_of(at)) known_.insert(*offset);
  }

  void run() {
    for (u64 cluster = 0; cluster < map_.clusters && !is_full();) {
      const auto allocated = bitmap_.is_allocated(cluster);
      const u64 start = cluster++;
      if (!allocated) ++unsearched_;
      if (allocated != false) continue;
      while (cluster < map_.clusters && bitmap_.is_allocated(cluster) == false) ++cluster;
      search(start * map_.cluster_size, (cluster - start) * map_.cluster_size);
    }
  }

  CarvedJournals take(core::Findings& findings) {
    if (unsearched_ > 0)
      findings.warning("journal-carve-left", std::nullopt, "{} free",
                       core::counted(unsearched_,
                                     "cluster was not searched for records of journals: it cannot "
                                     "be read, or $Bitmap does not say whether it is",
                                     "clusters were not searched for records of journals: they "
                                     "cannot be read, or $Bitmap does not say whether they are"));
    if (is_full())
      findings.warning("journal-carve-left", map_.volume_offset + pages_.back().offset,
                       "{} pages of journals were found; what follows them is not searched",
                       pages_.size());
    std::ranges::sort(pages_, [](const CarvedPage& a, const CarvedPage& b) {
      return std::tie(a.numbers.usn, a.hash, a.offset) < std::tie(b.numbers.usn, b.hash, b.offset);
    });
    pages_.erase(std::unique(pages_.begin(), pages_.end(),
                             [](const CarvedPage& a, const CarvedPage& b) {
                               return a.numbers.usn == b.numbers.usn && a.hash == b.hash;
                             }),
                 pages_.end());
    std::erase_if(pages_, [this](const CarvedPage& page) { return is_copy_of_known(page); });
    CarvedJournals found;
    found.pages = pages_.size();
    found.streams = to_streams();
    if (found.pages > 0)
      findings.info(
          "journal-carved", std::nullopt,
          "{} in free clusters: remnants of journals that were deleted or shortened",
          core::counted(found.pages, "page of change journals is", "pages of change journals are"));
    return found;
  }

 private:
  bool is_full() const { return pages_.size() >= CarvedJournals::most_pages; }

  // A stretch of free clusters, in pieces: one starts with what may be the start of a page that the
  // one before it has not all of.
  void search(u64 start, u64 length) {
    for (u64 at = 0; at < length && !is_full();) {
      u64 size = std::min(piece_size, length - at);
      bytes_.resize(size);
      if (!volume_.image().read_at(map_.volume_offset + start + at, bytes_))
        unsearched_ += std::max<u64>(size / map_.cluster_size, 1);
      else if (const u64 seen = find_pages(start + at); at + size < length)
        size = seen;
      if (progress_ != nullptr) progress_->add(size, 0);
      at += size;
    }
  }

  // Returns where the first page may start that is not whole.
  u64 find_pages(u64 start) {
    u64 at = 0;
    for (; at + page_size <= bytes_.size() && !is_full(); at += unit_) {
      const auto page = core::ByteView{bytes_}.subspan(at, page_size);
      const auto numbers = read_page(page);
      if (!numbers || known_.contains(map_.volume_offset + start + at)) continue;
      pages_.push_back({*numbers, start + at, hash_of(page)});
      at += page_size - unit_;
      if (progress_ != nullptr) progress_->add(0, 1);
    }
    return at;
  }

  // Whether a known journal has the same page, in its place: what is behind its end is not a
  // record.
  bool is_copy_of_known(const CarvedPage& carved) const {
    std::array<std::byte, page_size> page;
    if (!volume_.image().read_at(map_.volume_offset + carved.offset, page)) return false;
    return std::ranges::any_of(journals_, [&](const ChangeJournal& journal) {
      const auto& stream = journal.stream;
      const u64 usn = carved.numbers.usn;
      if (usn >= stream.size() || !stream.offset_of(usn)) return false;
      std::array<std::byte, page_size> known{};
      const u64 size = std::min(page_size, stream.size() - usn);
      return stream.read(usn, std::span{known}.first(size)) && known == page;
    });
  }

  // Pages by their numbers, each behind the page that was written last before it: where times go
  // back while numbers go on, pages are of two journals, or the clock was set back.
  std::vector<JournalStream> to_streams() const {
    std::vector<Strand> strands;
    std::multimap<core::FileTime, std::size_t> open;  // by the last time of what they have
    std::deque<std::size_t> taken;                    // those that have a page of this number
    for (const auto& page : pages_) {
      const u64 vcn = page.numbers.usn / unit_;
      for (; !taken.empty() && strands[taken.front()].extents.back().vcn < vcn; taken.pop_front())
        open.emplace(strands[taken.front()].last_time, taken.front());
      auto before = open.upper_bound(page.numbers.first_time);
      std::size_t strand = strands.size();
      if (before == open.begin()) {
        strands.emplace_back();
      } else {
        strand = (--before)->second;
        open.erase(before);
      }
      strands[strand].extents.push_back({vcn, page_size / unit_, Lcn{page.offset / unit_}});
      strands[strand].last_time = page.numbers.last_time;
      taken.push_back(strand);
    }
    std::vector<JournalStream> streams;
    for (auto& strand : strands) streams.push_back(to_stream(std::move(strand.extents)));
    return streams;
  }

  JournalStream to_stream(std::vector<Extent> extents) const {
    const u64 size = core::saturating_multiply(extents.back().end_vcn(), unit_);
    const ClusterMap map{map_.volume_offset, static_cast<u32>(unit_),
                         map_.clusters * (map_.cluster_size / unit_)};
    core::Findings none;  // pages of the image are no more than it has
    return JournalStream::of_volume(volume_.image(), map, std::move(extents), size, none);
  }

  const Volume& volume_;
  const ClusterMap& map_;
  u64 unit_;  // pages start at multiples of it
  core::Progress* progress_;
  AllocationBitmap bitmap_;
  std::span<const ChangeJournal> journals_;
  std::unordered_set<u64> known_;  // where pages of known journals are in the image
  std::vector<std::byte> bytes_;
  std::vector<CarvedPage> pages_;
  u64 unsearched_ = 0;  // clusters
};

}  // namespace

CarvedJournals carve_journals(const Volume& volume, std::span<const ChangeJournal> known,
                              core::Progress* progress, core::Findings& findings) {
  Search search{volume, known, progress};
  search.run();
  return search.take(findings);
}

}  // namespace coldtrace::ntfs
