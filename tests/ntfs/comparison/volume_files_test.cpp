#include "coldtrace/ntfs/comparison/volume_files.hpp"

#include <csignal>

#include <catch2/catch.hpp>
#include <sys/resource.h>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/comparison/file_comparison.hpp"
#include "fixtures/builders/ntfs_image.hpp"

namespace coldtrace {
namespace {

using fixtures::NtfsImage;

core::Result<ntfs::ComparedFiles> read(const std::vector<std::byte>& bytes, unsigned jobs,
                                       core::Findings& findings,
                                       const ntfs::ChangeFile& change = {}) {
  const core::MemoryImage image{bytes};
  const auto volume = ntfs::Volume::open(image, 0, image.size(), findings);
  REQUIRE(volume);
  return ntfs::read_compared_files(*volume, jobs, findings, change);
}

// While it lives no file of the process grows.
class NoSpace {
 public:
  NoSpace() {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit none{0, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
  }
  ~NoSpace() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  NoSpace(const NoSpace&) = delete;
  NoSpace& operator=(const NoSpace&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

}  // namespace

TEST_CASE("the files in use of two volumes are compared") {
  NtfsImage before;
  before.add_file(u"same.txt", "same");
  const auto grown = before.add_file(u"grown.txt", "1");
  const auto removed = before.add_file(u"removed.txt", "gone");
  auto after = before;
  after.file(grown).streams.front().content += "2";
  after.file(removed).in_use = false;
  after.file(removed).listed = false;
  const auto jobs = GENERATE(1U, 3U);
  core::Findings findings;
  const auto one = read(before.build(), jobs, findings);
  const auto other = read(after.build(), jobs, findings);
  REQUIRE(one);
  REQUIRE(other);
  CHECK_FALSE(findings.has_warnings());
  CHECK(one->names() == other->names() + 1);
  std::vector<std::pair<u64, std::vector<ntfs::FileChange>>> seen;
  const auto counts = compare_files(*one, *other, [&](const ntfs::FileDifference& difference) {
    seen.emplace_back(difference.file.record, difference.changes());
  });
  REQUIRE(counts);
  CHECK(seen == decltype(seen){{grown, {ntfs::FileChange::resized}},
                               {removed, {ntfs::FileChange::deleted}}});
  auto sum = *counts;
  sum.add(*counts);
  CHECK(sum.before == 2 * counts->before);
  CHECK(sum.after == 2 * counts->after);
  CHECK(sum.unchanged == 2 * counts->unchanged);
  CHECK(sum.changes[static_cast<std::size_t>(ntfs::FileChange::resized)] == 2);
  CHECK(sum.changes[static_cast<std::size_t>(ntfs::FileChange::deleted)] == 2);
}

TEST_CASE("files are kept as they were changed, and what is odd about them is told") {
  NtfsImage image;
  const auto record = image.add_file(u"odd.txt", "x");
  image.file(record).times.created = 0xffff'ffff'ffff'ffff;
  core::Findings findings;
  const auto files = read(image.build(), 1, findings, [](ntfs::ComparedFile& file) {
    for (auto& name : file.names) name.name = "hashed";
  });
  REQUIRE(files);
  CHECK_FALSE(findings.all().empty());
  auto group = files->next({});
  while (group.count > 0 && group.file.record != record) group = files->next(group);
  REQUIRE(group.count == 1);
  const auto file = files->read(group);
  REQUIRE(file);
  CHECK(file->names.front().name == "hashed");
}

TEST_CASE("a temporary file that cannot be written ends the reading of a volume") {
  NtfsImage image;
  image.add_file(u"a.txt", "a");
  const auto bytes = image.build();
  // Some are written before all are read, or all at the end.
  const auto size = GENERATE(std::size_t{1}, std::size_t{1} << 20U);
  const auto jobs = GENERATE(1U, 3U);
  const NoSpace no_space;
  core::Findings findings;
  const auto files = read(bytes, jobs, findings, [size](ntfs::ComparedFile& file) {
    file.names.front().path.assign(size, 'x');
  });
  REQUIRE_FALSE(files);
  CHECK(files.error().fault == core::Fault::io);
}

}  // namespace coldtrace
