#include "coldtrace/pe/dump_comparison.hpp"

#include <algorithm>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pe/expected_bytes.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 page_size = 0x1000;
constexpr u32 chunk_size = 16 * page_size;
// An instruction that was replaced by another may share some bytes with it.
constexpr u32 widest_gap = 8;
constexpr u16 native_subsystem = 1;

// The headers or a section, as far as no other before it has these addresses.
struct Region {
  u64 start = 0;
  u64 end = 0;
  std::optional<u32> section;
};

class Comparer {
 public:
  Comparer(const ImageTables& file, const ModuleDump& dump, const std::vector<PatchSite>& sites,
           core::Findings& findings)
      : image_{file.image()},
        dump_{dump},
        expected_{file, dump.base()},
        expected_page_{file, dump.base()},
        sites_{sites},
        findings_{findings} {}

  DumpComparison compare() {
    for (const auto& site : sites_) ++rule(site).sites;
    for (const auto& region : regions()) compare_region(region);
    note_absence();
    return std::move(result_);
  }

 private:
  DumpComparison::Rule& rule(const PatchSite& site) {
    return result_.rules[static_cast<std::size_t>(site.rule)];
  }

  // Whole pages: behind the bytes of a section's or the headers' last one lies what the file stores
  // there, or zeros. Below pages a file is mapped as it is.
  u64 mapped_end(u64 end) const {
    if (image_.optional_header().section_alignment < page_size) return end;
    return (end + page_size - 1) / page_size * page_size;
  }

  std::vector<Region> regions() const {
    const auto& optional = image_.optional_header();
    std::vector<Region> regions;
    std::vector<u32> order(image_.sections().size());
    for (u32 i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [this](u32 a, u32 b) {
      return image_.sections()[a].address < image_.sections()[b].address;
    });
    u64 end = std::min<u64>(mapped_end(optional.size_of_headers), optional.size_of_image);
    if (!order.empty()) end = std::min<u64>(end, value(image_.sections()[order.front()].address));
    regions.push_back({0, end, std::nullopt});
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto& section = image_.sections()[order[i]];
      const u64 size = section.virtual_size != 0 ? section.virtual_size : section.raw_size;
      const u64 start = std::max<u64>(value(section.address), end);
      end = std::min<u64>(mapped_end(value(section.address) + size), optional.size_of_image);
      if (i + 1 < order.size())
        end = std::min<u64>(end, value(image_.sections()[order[i + 1]].address));
      end = std::max(start, end);
      if (start < end) regions.push_back({start, end, order[i]});
    }
    return regions;
  }

  void compare_region(const Region& region) {
    const u32 flags = region.section ? image_.sections()[*region.section].characteristics : u32{0};
    if ((flags & section_writable) != 0) {
      result_.written_bytes += region.end - region.start;
      return;
    }
    if ((flags & section_discardable) != 0 &&
        image_.optional_header().subsystem == native_subsystem) {
      result_.discarded_bytes += region.end - region.start;
      return;
    }
    for (u64 at = region.start; at < region.end;) {
      const u64 end = std::min(region.end, (at / chunk_size + 1) * chunk_size);
      const auto rva = Rva{static_cast<u32>(at)};
      auto dumped = dump_.bytes(rva, end - at);
      if (dumped.empty()) {
        // Of the file's layout: the rest is not stored, and zeros when loaded.
        if (dump_.layout() == Layout::file && image_.bytes(rva, 1).empty()) return;
        result_.missing_bytes += region.end - at;
        return;
      }
      const auto expected = expected_.load(rva, static_cast<u32>(dumped.size()));
      compare_pages(region, at, expected, dumped);
      at += dumped.size();
    }
  }

  void compare_pages(const Region& region, u64 start, core::ByteView expected,
                     core::ByteView dumped) {
    for (u64 at = 0; at < dumped.size();) {
      const u64 next =
          std::min<u64>(dumped.size(), ((start + at) / page_size + 1) * page_size - start);
      const auto page = dumped.subspan(at, next - at);
      if (core::is_zero(page) && is_absent((start + at) / page_size)) {
        add_absent(start + at, page.size());
      } else {
        compare_bytes(region, start + at, expected.subspan(at, next - at), page);
      }
      at = next;
    }
  }

  // Below a SectionAlignment of 4 KiB several sections lie in a page, which was there or not as a
  // whole. A few zeros at the end of the dump are not a page.
  bool is_absent(u64 page) {
    if (page == last_page_) return last_page_is_absent_;
    last_page_ = page;
    const auto rva = Rva{static_cast<u32>(page * page_size)};
    last_page_is_absent_ = dump_.page_bytes(rva) == ModuleDump::PageBytes::zeros &&
                           !core::is_zero(expected_page_.load(rva, page_size));
    return last_page_is_absent_;
  }

  void add_absent(u64 start, u64 size) {
    result_.absent_bytes += size;
    auto& absent = result_.absent;
    if (!absent.empty() && value(absent.back().rva) + absent.back().size == start)
      absent.back().size += size;
    else
      absent.push_back({Rva{static_cast<u32>(start)}, size});
  }

  void compare_bytes(const Region& region, u64 start, core::ByteView expected,
                     core::ByteView dumped) {
    result_.compared_bytes += dumped.size();
    for (u64 i = 0; i < dumped.size();) {
      const auto [filed, found] =
          std::mismatch(expected.begin() + static_cast<std::ptrdiff_t>(i), expected.end(),
                        dumped.begin() + static_cast<std::ptrdiff_t>(i));
      if (found == dumped.end()) return;
      i = static_cast<u64>(found - dumped.begin());
      const auto rva = Rva{static_cast<u32>(start + i)};
      if (const auto* const site = find_site(rva)) {
        note_site(*site);
        i = u64{value(site->rva)} + site->size - start;
        continue;
      }
      add_change(region, rva);
      ++i;
    }
  }

  const PatchSite* find_site(Rva rva) {
    while (site_ < sites_.size() &&
           u64{value(sites_[site_].rva)} + sites_[site_].size <= value(rva))
      ++site_;
    if (site_ == sites_.size() || sites_[site_].rva > rva) return nullptr;
    return &sites_[site_];
  }

  // Pages and chunks may cut a site in two.
  void note_site(const PatchSite& site) {
    if (last_site_ == &site) return;
    last_site_ = &site;
    ++rule(site).changed;
    if (writes_code(site.rule)) result_.patched_code.push_back(site);
  }

  void add_change(const Region& region, Rva rva) {
    auto& changes = result_.changes;
    if (!changes.empty()) {
      auto& last = changes.back();
      const u64 end = u64{value(last.rva)} + last.size;
      if (last.section == region.section && value(rva) - end <= widest_gap) {
        last.size = value(rva) - value(last.rva) + 1;
        ++last.bytes;
        return;
      }
    }
    if (changes.size() == most_changes) {
      findings_.warning("change-limit", value(rva),
                        "more than {} places differ; those after RVA {:#x} are left out",
                        most_changes, value(changes.back().rva));
      return;
    }
    changes.push_back({rva, 1, 1, region.section});
  }

  void note_absence() {
    if (result_.absent_bytes > 0)
      findings_.info("dump-absent", value(result_.absent.front().rva),
                     "{} in whole pages where the file has other bytes: taken as absent and not "
                     "compared",
                     core::counted(result_.absent_bytes, "byte of the module is zero",
                                   "bytes of the module are zeros"));
    if (result_.missing_bytes > 0)
      findings_.warning("dump-truncated", std::nullopt,
                        "the dump ends before the module does: {} not compared",
                        core::counted(result_.missing_bytes, "byte of code and constants is",
                                      "bytes of code and constants are"));
  }

  const Image& image_;
  const ModuleDump& dump_;
  ExpectedBytes expected_;
  ExpectedBytes expected_page_;  // beside what is being compared
  const std::vector<PatchSite>& sites_;
  core::Findings& findings_;
  DumpComparison result_{};
  std::size_t site_ = 0;  // the first that does not end before what is looked at
  const PatchSite* last_site_ = nullptr;
  u64 last_page_ = ~u64{0};  // that is_absent() looked at
  bool last_page_is_absent_ = false;
};

}  // namespace

DumpComparison compare_dump(const ImageTables& file, const ModuleDump& dump,
                            const std::vector<PatchSite>& sites, core::Findings& findings) {
  return Comparer{file, dump, sites, findings}.compare();
}

}  // namespace coldtrace::pe
