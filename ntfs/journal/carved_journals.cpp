#include "coldtrace/ntfs/journal/carved_journals.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <unordered_set>

#include "coldtrace/ntfs/allocation_bitmap.hpp"
#include "coldtrace/ntfs/journal_pages.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 page_size = UsnRecord::page_size;
constexpr u64 piece_size = u64{1} << 20;

struct CarvedPage {
  u64 usn;     // of its first byte
  u64 offset;  // from the start of the volume
  u64 hash;    // of its bytes: copies of a page are one
};

// FNV-1a.
u64 hash_of(core::ByteView bytes) {
  u64 hash = 0xcbf2'9ce4'8422'2325;
  for (const auto byte : bytes) hash = (hash ^ std::to_integer<u64>(byte)) * 0x100'0000'01b3;
  return hash;
}

// The number that the first byte of a page has in its journal; nothing of other pages.
std::optional<u64> usn_of_page(core::ByteView page) {
  const auto length = core::load<u32>(page, 0).value_or(0);
  const auto major = core::load<u16>(page, 4).value_or(0);
  if (length < UsnRecord::smallest || length > page_size || length % 8 != 0 || major < 2 ||
      major > 4 || core::load<u16>(page, 6).value_or(1) != 0)
    return std::nullopt;
  for (u64 at = 0; at < page.size();) {
    const auto record = read_usn_record(page.subspan(at), at);
    if (!record) return std::nullopt;
    if (is_likely_record(*record, at)) return record->usn - at;
    at += record->length;
  }
  return std::nullopt;
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
      findings.warning("journal-carve-left", std::nullopt,
                       "{} clusters were not searched for records of journals: they cannot be "
                       "read, or $Bitmap does not say whether they are free",
                       unsearched_);
    if (is_full())
      findings.warning("journal-carve-left", map_.volume_offset + pages_.back().offset,
                       "{} pages of journals were found, and what is behind them is not searched",
                       pages_.size());
    std::ranges::sort(pages_, [](const CarvedPage& a, const CarvedPage& b) {
      return std::tie(a.usn, a.hash, a.offset) < std::tie(b.usn, b.hash, b.offset);
    });
    pages_.erase(std::unique(pages_.begin(), pages_.end(),
                             [](const CarvedPage& a, const CarvedPage& b) {
                               return a.usn == b.usn && a.hash == b.hash;
                             }),
                 pages_.end());
    std::erase_if(pages_, [this](const CarvedPage& page) { return is_copy_of_known(page); });
    CarvedJournals found;
    found.pages = pages_.size();
    for (auto left = std::move(pages_); !left.empty();) found.streams.push_back(next_stream(left));
    if (found.pages > 0)
      findings.info("journal-carved", std::nullopt,
                    "{} pages of change journals are in clusters that are free: what is left of "
                    "journals that were deleted or shortened",
                    found.pages);
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
      const auto usn = usn_of_page(page);
      if (!usn || known_.contains(map_.volume_offset + start + at)) continue;
      pages_.push_back({*usn, start + at, hash_of(page)});
      at += page_size - unit_;
      if (progress_ != nullptr) progress_->add(0, 1);
    }
    return at;
  }

  // Whether a known journal has the same page, in its place: what is behind its end is no record.
  bool is_copy_of_known(const CarvedPage& carved) const {
    std::array<std::byte, page_size> page;
    if (!volume_.image().read_at(map_.volume_offset + carved.offset, page)) return false;
    return std::ranges::any_of(journals_, [&](const ChangeJournal& journal) {
      const auto& stream = journal.stream;
      if (carved.usn >= stream.size() || !stream.offset_of(carved.usn)) return false;
      std::array<std::byte, page_size> known{};
      const u64 size = std::min(page_size, stream.size() - carved.usn);
      return stream.read(carved.usn, std::span{known}.first(size)) && known == page;
    });
  }

  // Of each number the first page; the others are left.
  JournalStream next_stream(std::vector<CarvedPage>& left) const {
    std::vector<CarvedPage> others;
    std::vector<Extent> extents;
    const u64 units = page_size / unit_;
    for (const auto& page : left) {
      const u64 vcn = page.usn / unit_;
      if (!extents.empty() && extents.back().end_vcn() > vcn)
        others.push_back(page);
      else
        extents.push_back({vcn, units, Lcn{page.offset / unit_}});
    }
    left = std::move(others);
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
