#include "coldtrace/core/folder_files.hpp"

#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>

#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

// Two files, one of them deeper, and links to a file, to a folder and to nothing.
struct Folder {
  fixtures::TemporaryDirectory directory;
  std::string root = directory.path("root");

  Folder() {
    fs::create_directories(directory.path("root/deep/deeper"));
    directory.write("root/b", "b");
    directory.write("root/deep/deeper/a", "a");
    directory.write("outside", "x");
    fs::create_symlink(directory.path("outside"), directory.path("root/link"));
    fs::create_directory_symlink(root, directory.path("root/deep/circle"));
    fs::create_symlink(directory.path("nowhere"), directory.path("root/dangling"));
  }

  [[nodiscard]] Paths paths(const Paths& names) const {
    Paths all;
    for (const auto& name : names) all.push_back(directory.path("root/" + name));
    return all;
  }
};

TEST_CASE("files below a folder are found once, also by links, but through no linked folder") {
  const Folder folder;
  core::Findings findings;
  const auto found = core::find_files_below(folder.root, 3, findings);
  REQUIRE(found);
  CHECK(found->files == folder.paths({"b", "deep/deeper/a", "link"}));
  CHECK_FALSE(found->has_more);
  CHECK(findings.empty());
}

TEST_CASE("more files than are asked for are not found, which is said") {
  const Folder folder;
  const auto most = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{2});
  core::Findings findings;
  const auto found = core::find_files_below(folder.root, most, findings);
  REQUIRE(found);
  CHECK(found->files.size() == most);
  CHECK(found->has_more);
}

TEST_CASE("what is no folder cannot be searched or listed") {
  const Folder folder;
  const auto path = folder.directory.path(GENERATE("outside", "nowhere"));
  CAPTURE(path);
  core::Findings findings;
  CHECK_FALSE(core::find_files_below(path, 3, findings));
  const auto entries = core::list_folder(path);
  REQUIRE_FALSE(entries);
  CHECK(core::is_no_folder(entries.error()));
}

TEST_CASE("a folder is listed with its links, and without what lies deeper") {
  const Folder folder;
  const auto entries = core::list_folder(folder.root);
  REQUIRE(entries);
  Paths paths;
  for (const auto& entry : *entries) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  CHECK(paths == folder.paths({"b", "dangling", "deep", "link"}));
}

}  // namespace
}  // namespace coldtrace
