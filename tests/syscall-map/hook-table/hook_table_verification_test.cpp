#include "coldtrace/syscall-map/hook-table/hook_table_verification.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "fixtures/builders/hook_tables.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

const ImageContents contents{[](const HookTableImage&) { return std::vector<Service>{}; },
                             [](const HookTableImage&, const HookTableImage&) { return false; }};

// The table that was made first, again.
std::optional<HookTable> same_table(const HookTable& build, const BuildFiles&) {
  return build;
}

// All images of the tables, as files elsewhere.
BuildFiles files_of(const std::vector<HookTable>& builds) {
  BuildFiles files;
  for (const auto& build : builds)
    for (const auto& image : build.images)
      files.push_back({image.role, "files/" + std::to_string(files.size()), image.identity, {}});
  return files;
}

TEST_CASE("a table is held against the files of each of its builds") {
  const auto builds = fixtures::make_hook_tables(1, 3);
  const auto files = files_of(builds);
  std::vector<std::vector<HookTableImage>> made;
  const auto result = verify_hook_table(
      builds, files, contents,
      [&](const HookTable& build, const BuildFiles& own) -> std::optional<HookTable> {
        made.push_back(own);
        return build;
      });
  CHECK(result.is_same());
  CHECK(result.not_given == 0);
  CHECK(result.unmatched_files.empty());
  CHECK(result.findings.empty());
  REQUIRE(result.builds.size() == 3);
  REQUIRE(made.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(same_image(result.builds[i].kernel, *find_kernel(builds[i])));
    REQUIRE(made[i].size() == builds[i].images.size());
    for (std::size_t j = 0; j < made[i].size(); ++j) {
      CHECK(same_image(made[i][j], builds[i].images[j]));
      CHECK(made[i][j].path.starts_with("files/"));
    }
  }
}

TEST_CASE("a value that files say otherwise is a difference") {
  const auto builds = fixtures::make_hook_tables(1, 2);
  const auto result =
      verify_hook_table(builds, files_of(builds), contents,
                        [&](const HookTable& build, const BuildFiles&) -> std::optional<HookTable> {
                          auto again = build;
                          if (&build == &builds[1]) again.services.clear();
                          return again;
                        });
  REQUIRE(result.builds.size() == 2);
  CHECK(result.builds[0].differences.empty());
  CHECK_FALSE(result.builds[1].differences.empty());
  CHECK_FALSE(result.is_same());
}

TEST_CASE("of an image that is not given nothing else of its build is said") {
  const auto builds = fixtures::make_hook_tables(1, 1);
  REQUIRE(builds[0].images.size() > 1);
  auto files = files_of(builds);
  files.pop_back();
  bool made = false;
  const auto result =
      verify_hook_table(builds, files, contents,
                        [&](const HookTable& build, const BuildFiles&) -> std::optional<HookTable> {
                          made = true;
                          return build;
                        });
  CHECK_FALSE(made);
  REQUIRE(result.builds.size() == 1);
  REQUIRE(result.builds[0].differences.size() == 1);
  const auto& difference = result.builds[0].differences[0];
  const auto& image = builds[0].images.back();
  CHECK(difference.path == "images[" + std::string{to_string(image.role)} + "]");
  CHECK(difference.before == pe::to_string(image.identity));
  CHECK_FALSE(difference.after);
  CHECK_FALSE(result.is_same());
}

TEST_CASE("a kernel that cannot be read a second time differs") {
  const auto builds = fixtures::make_hook_tables(1, 1);
  const auto result = verify_hook_table(
      builds, files_of(builds), contents,
      [](const HookTable&, const BuildFiles&) -> std::optional<HookTable> { return std::nullopt; });
  REQUIRE(result.builds.size() == 1);
  REQUIRE(result.builds[0].differences.size() == 1);
  CHECK(result.builds[0].differences[0].path == "images[kernel]");
}

TEST_CASE("builds without files and files without a build are told, and copies") {
  const auto builds = fixtures::make_hook_tables(1, 2);
  SECTION("no file is of the second build") {
    const auto result = verify_hook_table(builds, files_of({builds[0]}), contents, same_table);
    CHECK(result.not_given == 1);
    CHECK(result.is_same());
  }
  SECTION("no build at all is checked") {
    const auto result = verify_hook_table(builds, {}, contents, same_table);
    CHECK(result.not_given == 2);
    CHECK_FALSE(result.is_same());
  }
  SECTION("a file is of no build") {
    const auto result = verify_hook_table({&builds[0], 1}, files_of(builds), contents, same_table);
    CHECK(result.unmatched_files.size() == builds[1].images.size());
    CHECK_FALSE(result.is_same());
  }
  SECTION("a second file has the headers of the first, and other bytes") {
    auto files = files_of(builds);
    files.push_back(files.front());
    files.back().path = "copy";
    const auto result = verify_hook_table(builds, files, contents, same_table);
    CHECK(result.unmatched_files.empty());
    CHECK(result.is_same());
    REQUIRE(result.findings.all().size() == 1);
  }
}

}  // namespace
}  // namespace coldtrace
