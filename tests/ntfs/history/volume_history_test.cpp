#include "coldtrace/ntfs/history/volume_history.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/core/image_source.hpp"
#include "fixtures/builders/ntfs_image.hpp"

namespace coldtrace {
namespace {

using fixtures::NtfsFile;
using fixtures::NtfsImage;

// A volume at several times, each with a file "a.txt" that was changed, and one that never is.
class Times {
 public:
  using Change = std::function<void(NtfsFile&)>;

  explicit Times(const std::vector<Change>& changes) {
    for (const auto& change : changes) {
      NtfsImage image;
      const auto record = image.add_file(u"a.txt", "content");
      image.add_file(u"same.txt", "content");
      if (change) change(image.file(record));
      bytes_.push_back(image.build());
    }
  }

  ntfs::VolumeHistory history(const std::vector<std::string>& paths) const {
    ntfs::VolumeHistory history{paths};
    each([&](const ntfs::Snapshot& snapshot, std::size_t) {
      core::Findings findings;
      history.search(snapshot, 1, findings);
    });
    each([&](const ntfs::Snapshot& snapshot, std::size_t view) {
      core::Findings findings;
      history.collect(snapshot, view, 1, findings,
                      [](unsigned, const ntfs::FileRow& row) { return row.path(); });
    });
    return history;
  }

 private:
  template <class Use>
  void each(Use use) const {
    for (std::size_t view = 0; view < bytes_.size(); ++view) {
      const core::MemoryImage image{bytes_[view]};
      core::Findings findings;
      const auto volume = ntfs::Volume::open(image, 0, image.size(), findings);
      REQUIRE(volume);
      use(ntfs::Snapshot::take(*volume, {.jobs = 1}, findings), view);
    }
  }

  std::vector<std::vector<std::byte>> bytes_;
};

TEST_CASE("a row of a file that was not found adds nothing") {
  ntfs::VolumeHistory history{{"/a.txt"}};
  const ntfs::VolumeHistory::Row row{"/b.txt", {7, 1}, ntfs::State::live};
  history.search(row);
  CHECK_FALSE(history.has(row));
  history.collect(row, 0, "line", "shown");
  CHECK(history.files().empty());
}

TEST_CASE("any value that differs makes another version of a file") {
  struct Row {
    const char* why;
    Times::Change change;
  };
  const auto row = GENERATE(values<Row>({
      {"a time of 100 ns later", [](NtfsFile& file) { ++file.times.accessed; }},
      {"an attribute", [](NtfsFile& file) { file.dos_attributes |= 1; }},
      // The JSON of a row names attributes: of these bits it said nothing.
      {"an attribute without a name", [](NtfsFile& file) { file.dos_attributes |= 0x8000'0000; }},
      {"a time of its name", [](NtfsFile& file) { ++file.names.front().times.created; }},
      {"its size", [](NtfsFile& file) { file.streams.front().content += "!"; }},
      {"a stream more",
       [](NtfsFile& file) {
         file.streams.push_back({u"zone", "x", {}});
       }},
      {"that it is no longer listed", [](NtfsFile& file) { file.listed = false; }},
  }));
  CAPTURE(row.why);
  const auto history = Times{{{}, row.change, {}}}.history({"a.TXT", "\\same.txt", "/none"});
  CHECK(history.found() == std::vector<bool>{true, true, false});
  CHECK_FALSE(history.limited());
  REQUIRE(history.files().size() == 2);
  const auto& versions = history.files()[0].versions;
  REQUIRE(versions.size() == 2);
  CHECK(versions[0].views == std::vector<std::size_t>{0, 2});
  CHECK(versions[1].views == std::vector<std::size_t>{1});
  CHECK(versions[0].shown == "/a.txt");
  REQUIRE(history.files()[1].versions.size() == 1);
  CHECK(history.files()[1].versions[0].views == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("what a file holds is not a version of it, and a file is told by its sequence") {
  const auto same_size = [](NtfsFile& file) { file.streams.front().content = "CONTENT"; };
  const auto again = [](NtfsFile& file) { file.sequence = 7; };
  const auto history = Times{{{}, same_size, again}}.history({"/a.txt"});
  REQUIRE(history.files().size() == 2);
  CHECK(history.files()[0].versions.size() == 1);
  CHECK(history.files()[0].is_in(1));
  CHECK_FALSE(history.files()[0].is_in(2));
  CHECK(history.files()[1].file.sequence == 7);
}

TEST_CASE("a file that was deleted is the one that it was") {
  const auto gone = [](NtfsFile& file) {
    file.in_use = false;
    file.listed = false;
    ++file.sequence;
  };
  const auto history = Times{{{}, gone}}.history({"/a.txt"});
  REQUIRE(history.files().size() == 1);
  REQUIRE(history.files()[0].versions.size() == 2);
  CHECK(history.files()[0].versions[1].value.state == ntfs::State::deleted);
}

}  // namespace
}  // namespace coldtrace
