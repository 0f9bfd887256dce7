#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>

#include <catch2/catch.hpp>
#include <zlib.h>

#include "fixtures/builders/ntfs_image.hpp"
#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace {
namespace {

using ntfs::State;
using tests::Seen;
using tests::SeenRow;

constexpr u64 page_size = 4096;

// An image of which only the pages that hold something are kept; some of its bytes may be
// changed, and it may be cut.
class PagedImage final : public core::ImageSource {
 public:
  using Page = std::vector<std::byte>;

  void append(core::ByteView bytes) {
    static constexpr std::array<std::byte, page_size> zeros{};
    for (u64 at = 0; at < bytes.size(); at += page_size) {
      const auto part = bytes.subspan(at, std::min<u64>(page_size, bytes.size() - at));
      if (std::memcmp(part.data(), zeros.data(), part.size()) != 0) {
        auto& page = pages_[size_ / page_size];
        page.assign(part.begin(), part.end());
        page.resize(page_size);
      }
      size_ += part.size();
    }
  }

  u64 size() const override { return size_; }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    if (const auto error = check_range(offset, destination.size())) return core::fail(*error);
    while (!destination.empty()) {
      const u64 inside = offset % page_size;
      const auto count = std::min<u64>(destination.size(), page_size - inside);
      const auto page = pages_.find(offset / page_size);
      if (page == pages_.end()) {
        std::memset(destination.data(), 0, count);
      } else {
        std::memcpy(destination.data(), page->second.data() + inside, count);
      }
      destination = destination.subspan(count);
      offset += count;
    }
    return core::Done{};
  }

  const std::map<u64, Page>& pages() const { return pages_; }
  void cut(u64 size) { size_ = size; }
  void write(u64 offset, core::ByteView bytes) {
    for (const auto byte : bytes) {
      auto& page = pages_[offset / page_size];
      page.resize(page_size);
      page[offset++ % page_size] = byte;
    }
  }

 private:
  std::map<u64, Page> pages_;
  u64 size_ = 0;
};

// A volume with what its rows and structures are, read before anything is changed.
struct Sample {
  std::string name;
  u64 offset = 0;  // of the volume
  std::unique_ptr<PagedImage> image = std::make_unique<PagedImage>();
  Seen sound = {};
  std::map<u64, u64> records = {};  // numbers by offset
  u32 record_size = 1024;
  std::vector<u64> index_pages = {};
};

tests::SnapshotOptions all_of(const Sample& sample) {
  return {.states = tests::all_states, .slack = true, .offset = sample.offset};
}

void read_sound(Sample& sample) {
  sample.sound = snapshot_of(*sample.image, all_of(sample));
  REQUIRE(sample.sound.opened);
  REQUIRE_FALSE(sample.sound.warns());
  core::Findings findings;
  const auto volume = ntfs::Volume::open(*sample.image, sample.offset,
                                         sample.image->size() - sample.offset, findings);
  sample.record_size = volume->mft().record_size();
  for (u64 record = 0; record < volume->mft().record_count(); ++record)
    sample.records[*volume->mft().offset_of(record)] = record;
  for (const auto& [number, page] : sample.image->pages())
    if (std::memcmp(page.data(), "INDX", 4) == 0) sample.index_pages.push_back(number * page_size);
}

Sample built_sample() {
  fixtures::NtfsImage image{{.clusters = 512, .records = 300}};
  const u64 many = image.add_directory(u"many");
  for (char16_t a = u'a'; a <= u'h'; ++a) {
    const u64 folder = image.add_directory(std::u16string{u"folder "} + a, many);
    for (char16_t b = u'a'; b <= u'x'; ++b)
      image.add_file(std::u16string{u"a file with some name "} + b, "content", folder);
  }
  const u64 place = image.allocate(8);
  image.add({.names = {{.parent = many, .name = u"pieces"}},
             .streams = {{.runs = {{place, 2}, {std::nullopt, 3}, {place + 4, 1}},
                          .size = 24000,
                          .flags = 0x8000}}});
  image.add({.names = {{.parent = many, .name = u"deleted"}}, .in_use = false, .sequence = 2});
  Sample sample{.name = "built"};
  sample.image->append(image.build());
  read_sound(sample);
  return sample;
}

// The volumes that Windows made, where they are beside the checkout.
const std::vector<Sample>& shared_samples() {
  static const auto samples = [] {
    std::vector<Sample> found;
    for (const char* name : {"ntfs-lastaccess.raw.gz", "ntfs-ptrn.raw.gz"}) {
      const auto path = std::string{COLDTRACE_SHARED} + "/samples/ntfs/" + name;
      const gzFile file = gzopen(path.c_str(), "rb");
      if (file == nullptr) {
        WARN("skipped: no sample " << name);
        continue;
      }
      auto& sample = found.emplace_back();
      sample.name = name;
      sample.offset = 65536;
      std::vector<std::byte> block(1 << 20);
      for (int count = 0; (count = gzread(file, block.data(), 1 << 20)) > 0;)
        sample.image->append(core::ByteView{block}.first(static_cast<std::size_t>(count)));
      gzclose(file);
      read_sound(sample);
    }
    return found;
  }();
  return samples;
}

struct Mutation {
  std::string what;
  u64 offset = 0;
  u64 length = 0;
  std::vector<std::byte> before;  // empty: the image was cut
};

// Changes one place, mostly of records and indexes.
Mutation mutate(const Sample& sample, u64 seed, PagedImage& image) {
  std::mt19937_64 random{seed};
  const auto any = [&](u64 count) { return random() % count; };
  if (any(16) == 0) {
    const u64 size = sample.offset + any(sample.image->size() - sample.offset);
    const u64 lost = image.size() - size;
    image.cut(size);
    return {fmt::format("cut at {:#x}", size), size, lost, {}};
  }
  u64 start = 0;
  u64 length = page_size;
  const u64 kind = any(10);
  if (kind < 5) {
    auto record = sample.records.begin();
    // Most are not in use; those that are come first.
    std::advance(record, static_cast<std::ptrdiff_t>(any(
                             std::min<u64>(sample.records.size(), sample.sound.rows.size() + 8))));
    start = record->first;
    length = sample.record_size;
  } else if (kind < 8 && !sample.index_pages.empty()) {
    start = sample.index_pages[any(sample.index_pages.size())];
  } else {
    auto page = sample.image->pages().begin();
    std::advance(page, static_cast<std::ptrdiff_t>(any(sample.image->pages().size())));
    start = page->first * page_size;
  }
  std::vector<std::byte> bytes;
  std::vector<std::byte> before(512);
  std::string what;
  switch (any(4)) {
    case 0:
      start += any(length / 512) * 512;
      bytes.resize(512);
      what = "zeroed sector";
      break;
    case 1:
      start += any(length - 8);
      bytes.resize(8);
      for (auto& byte : bytes) byte = static_cast<std::byte>(any(256));
      what = "8 bytes";
      break;
    default:
      start += any(length);
      bytes.resize(1);
      static_cast<void>(image.read_at(start, bytes));
      bytes[0] ^= static_cast<std::byte>(1U << any(8));
      what = "flipped bit";
  }
  before.resize(bytes.size());
  static_cast<void>(image.read_at(start, before));
  image.write(start, bytes);
  return {fmt::format("{} at {:#x}", what, start), start, bytes.size(), std::move(before)};
}

bool overlap(const Mutation& mutation, u64 offset, u64 length) {
  return offset < mutation.offset + mutation.length && mutation.offset < offset + length;
}

// The bytes of a structure with its fixups put back. From the description of the format.
std::vector<std::byte> read_structure(const PagedImage& image, u64 offset, u64 size) {
  std::vector<std::byte> bytes(size);
  REQUIRE(image.read_at(offset, bytes));
  const u16 array = *core::load<u16>(bytes, 4);
  for (u64 i = 1; i < *core::load<u16>(bytes, 6) && i * 512 <= size; ++i)
    std::copy_n(bytes.begin() + array + static_cast<std::ptrdiff_t>(i) * 2, 2,
                bytes.begin() + static_cast<std::ptrdiff_t>(i) * 512 - 2);
  return bytes;
}

// What a mutation may change: files whose records it touches, and names in a buffer that it
// touches.
struct Touched {
  std::set<u64> records;
  std::set<u64> entries;
  bool everything = false;  // the boot sector, record 0 of $MFT
  bool owners = false;      // $Secure
};

Touched find_touched(const Sample& sample, const Mutation& mutation) {
  Touched touched;
  const auto& image = *sample.image;
  touched.everything = overlap(mutation, sample.offset, 512);
  for (const auto& [offset, record] : sample.records) {
    if (!overlap(mutation, offset, sample.record_size)) continue;
    const auto bytes = read_structure(image, offset, sample.record_size);
    const u64 base = *core::load<u64>(bytes, 0x20) & 0xffff'ffff'ffff;
    touched.records.insert(base != 0 ? base : record);
    if (record == 0) touched.everything = true;
    if (record == 9) touched.owners = true;
  }
  for (const u64 offset : sample.index_pages) {
    if (!overlap(mutation, offset, page_size)) continue;
    const auto bytes = read_structure(image, offset, page_size);
    const u64 end = 0x18 + u64{*core::load<u32>(bytes, 0x1c)};
    for (u64 at = 0x18 + *core::load<u32>(bytes, 0x18); at + 0x10 <= end;) {
      if ((*core::load<u16>(bytes, at + 12) & 2) == 0)
        touched.entries.insert(*core::load<u64>(bytes, at) & 0xffff'ffff'ffff);
      at += std::max<u64>(*core::load<u16>(bytes, at + 8), 0x10);
    }
  }
  for (const auto& [path, row] : sample.sound.rows)
    for (const auto& place : row.places)
      if (overlap(mutation, place.offset, place.length)) {
        if (row.record == 9) touched.owners = true;
        const bool index =
            !place.content &&
            std::ranges::binary_search(sample.index_pages, mutation.offset / page_size * page_size);
        if (!place.content && !index) touched.records.insert(row.record);
      }
  return touched;
}

bool is_same(const SeenRow& a, const SeenRow& b, bool owners) {
  const auto same_extent = [](const ntfs::Extent& x, const ntfs::Extent& y) {
    return x.vcn == y.vcn && x.clusters == y.clusters && x.lcn == y.lcn;
  };
  return a.state == b.state && a.record == b.record && a.sequence == b.sequence &&
         a.directory == b.directory && a.links == b.links && a.short_name == b.short_name &&
         a.size == b.size && a.record_offset == b.record_offset &&
         a.resident_offset == b.resident_offset && a.fixup_positions == b.fixup_positions &&
         std::ranges::equal(a.extents, b.extents, same_extent) && a.streams == b.streams &&
         a.target == b.target && (!owners || a.owner == b.owner) &&
         a.information == b.information && a.named == b.named && a.index == b.index;
}

// Paths of rows that a mutation may change; what lies below a directory goes with it.
std::set<std::string> affected_paths(const Sample& sample, const Touched& touched) {
  std::set<std::string> paths;
  for (const auto& [path, row] : sample.sound.rows)
    if (touched.records.contains(row.record) || touched.entries.contains(row.record))
      paths.insert(row.record == ntfs::root_record ? "" : path);
  return paths;
}

bool is_affected(const std::string& path, const std::set<std::string>& paths) {
  if (paths.contains("") || paths.contains(path)) return true;
  for (auto slash = path.rfind('/'); slash != 0 && slash != std::string::npos;
       slash = path.rfind('/', slash - 1))
    if (paths.contains(path.substr(0, slash))) return true;
  return false;
}

void check(const Sample& sample, const Mutation& mutation, const Seen& seen) {
  if (!seen.opened) {
    // Said with an error. Only these are needed to know a volume.
    const u64 first = sample.records.begin()->first;
    CHECK((overlap(mutation, sample.offset, 512) || overlap(mutation, first, 16384)));
    return;
  }
  const auto touched = find_touched(sample, mutation);
  const auto paths = affected_paths(sample, touched);
  std::set<u64> found;
  for (const auto& [path, row] : seen.rows) found.insert(row.record);
  bool lost = false;
  for (const auto& known : sample.sound.rows) {
    const auto& path = known.first;
    const auto& row = known.second;
    const auto fails = [&](const char* what) {
      FAIL_CHECK(what << ": " << path << ", " << row.record);
    };
    const auto [first, last] = seen.rows.equal_range(path);
    const bool listed = std::any_of(first, last, [&](const auto& other) {
      return other.second.record == row.record && other.second.state == row.state;
    });
    if (row.state == State::live && !listed) lost = true;
    if (touched.everything) continue;
    if (!is_affected(path, paths)) {
      const bool same = std::any_of(first, last, [&](const auto& other) {
        return is_same(row, other.second, !touched.owners);
      });
      if (!same) fails("another row");
    }
    // A file is more than its name in a directory.
    if (row.state == State::live && !touched.records.contains(row.record) &&
        !found.contains(row.record))
      fails("lost");
  }
  if (lost) CHECK(seen.warns());
  // Nothing is invented: entries of one page at most come up as names of their own.
  CHECK(seen.rows.size() <= sample.sound.rows.size() * 2 + 64);
}

void check_mutants(const Sample& sample, u64 count) {
  for (u64 seed = 0; seed < count; ++seed) {
    auto& image = *sample.image;
    const u64 size = image.size();
    const auto mutation = mutate(sample, seed, image);
    CAPTURE(sample.name, seed, mutation.what);
    const auto seen = snapshot_of(image, all_of(sample));
    // What is touched is told by the volume as it was.
    image.cut(size);
    image.write(mutation.offset, mutation.before);
    check(sample, mutation, seen);
  }
}

TEST_CASE("what a mutant of a built volume did not touch is there, what was lost is said") {
  check_mutants(built_sample(), 150);
}

TEST_CASE("what a mutant of a volume made by Windows did not touch is there, loss is said") {
  for (const auto& sample : shared_samples()) check_mutants(sample, 150);
}

TEST_CASE("files asked for alone are those of the whole volume") {
  const auto built = built_sample();
  std::vector<const Sample*> samples{&built};
  for (const auto& sample : shared_samples()) samples.push_back(&sample);
  for (const auto* one : samples) {
    const auto& sample = *one;
    CAPTURE(sample.name);
    core::Findings findings;
    const auto volume = ntfs::Volume::open(*sample.image, sample.offset,
                                           sample.image->size() - sample.offset, findings);
    const auto snapshot = ntfs::Snapshot::take(*volume, {}, findings);
    u64 compared = 0;
    for (u64 record = 0; record < snapshot.records().size(); ++record) {
      if (!snapshot.records().has(record)) continue;
      ntfs::RecordFacts facts;
      snapshot.records().assemble(record, facts);
      const auto file = volume->read_file(record);
      const bool same =
          file &&
          std::ranges::equal(
              file->facts.names, facts.names,
              [](const auto& a, const auto& b) { return to_utf8(a.name) == to_utf8(b.name); }) &&
          std::ranges::equal(file->facts.attributes, facts.attributes,
                             [](const auto& a, const auto& b) { return a.size == b.size; });
      if (!same) FAIL_CHECK("record " << record);
      ++compared;
    }
    CHECK(compared > 16);
    CHECK(findings.empty());
  }
}

}  // namespace
}  // namespace coldtrace
