#include "coldtrace/ntfs/containers/image_parents.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace {
namespace {

using namespace ntfs;

// Disks of virtual machines are opened by a process of their own: virtual_disks.py has them.
struct Files {
  fixtures::TemporaryDirectory folder;
  std::string raw = folder.write("disk.raw", std::string(512, '\0'));
  std::string packed = folder.write("disk.gz", "\x1f\x8b\x08");
  std::string base = folder.write("base.vhdx", "base");
  std::string middle = folder.write("middle.vhdx", "middle");
};

TEST_CASE("an image has the parents that it is read from, or all where its opening tells") {
  const Files files;
  const std::vector parents{files.middle, files.base};
  struct Row {
    const char* why;
    std::string image;
    std::vector<std::string> expected;
  };
  const std::vector<Row> rows{
      {"a raw image is read from itself", files.raw, {}},
      {"a packed image may hold one that rests on them", files.packed, parents},
      {"one that is not there", files.folder.path("none"), parents},
      {"one of them that nothing rests on", files.base, {}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    const auto chosen = choose_parents(row.image, parents);
    CHECK(chosen.image == row.image);
    CHECK(chosen.parents == row.expected);
  }
}

TEST_CASE("a packed parent rests on those behind it, by any path that leads to it") {
  const Files files;
  const std::vector parents{files.middle, files.folder.path("./disk.gz"), files.base};
  CHECK(choose_parents(files.packed, parents).parents == std::vector{files.base});
}

TEST_CASE("a parent is told that is neither image, and that neither rests on") {
  const Files files;
  const std::vector parents{files.middle, files.base, files.folder.path("./disk.raw")};
  const ImageParents before{files.raw, {}};
  core::Findings findings;
  note_unused_parents(parents, before, {files.packed, {files.base}}, findings);
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all().front().code == "image-parent");
  CHECK(findings.all().front().text == files.middle +
                                           ", a file of --parent, is not used: neither " +
                                           files.raw + " nor " + files.packed + " is based on it");
  core::Findings used;
  note_unused_parents(parents, {files.raw, {files.middle}}, {files.base, {}}, used);
  CHECK(used.empty());
}

}  // namespace
}  // namespace coldtrace
