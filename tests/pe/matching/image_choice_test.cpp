#include "coldtrace/pdb/image_choice.hpp"

#include <map>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using pe::Identity;
using pe::ImageChoice;
using pe::LoadedFile;

// Builds differ in their stamps; each asks for a PDB of the stamp's age.
Identity build(u32 stamp) {
  Identity identity{};
  identity.time_date_stamp = stamp;
  identity.size_of_image = 0x3000;
  identity.pdb = pe::PdbReference{"x.pdb", core::Guid{}, std::nullopt, stamp};
  return identity;
}

LoadedFile loaded(u32 stamp) {
  return {stamp, 0, 0x3000, std::nullopt};
}

std::optional<ImageChoice::Chosen> find(
    ImageChoice& choice, const LoadedFile& wanted, core::Findings& findings,
    const std::map<std::string, std::optional<Identity>>& files = {}) {
  std::vector<std::string> paths;
  for (const auto& [path, identity] : files) paths.push_back(path);
  return choice.find(
      "\\Device\\a\\X.DLL", wanted,
      paths, [&](const std::string& path) -> const auto& { return files.at(path); }, findings);
}

TEST_CASE("the file of an image is the build that was loaded, and the given one comes first") {
  ImageChoice choice;
  core::Findings findings;
  choice.give("other name.dll", build(1), findings);
  const std::map<std::string, std::optional<Identity>> files{
      {"/1/x.dll", build(1)}, {"/2/x.dll", std::nullopt}, {"/3/x.dll", build(3)}};
  const auto given = find(choice, loaded(1), findings, files);
  REQUIRE(given);
  CHECK(given->path == "other name.dll");
  REQUIRE(given->pdb);
  CHECK(given->pdb->age == 1);
  const auto found = find(choice, loaded(3), findings, files);
  REQUIRE(found);
  CHECK(found->path == "/3/x.dll");
  CHECK(found->pdb->age == 3);
  CHECK(findings.empty());
}

TEST_CASE("an image that asks for no PDB leaves what the trace says of it") {
  ImageChoice choice;
  core::Findings findings;
  auto without = build(1);
  without.pdb.reset();
  choice.give("x.dll", without, findings);
  auto wanted = loaded(1);
  wanted.pdb = pe::PdbReference{"traced.pdb", core::Guid{}, std::nullopt, 7};
  const auto found = find(choice, wanted, findings);
  REQUIRE(found);
  REQUIRE(found->pdb);
  CHECK(found->pdb->name == "traced.pdb");
  CHECK(choice.pdbs().empty());
}

TEST_CASE("files of the name that are other builds, or not proved, are told") {
  ImageChoice choice;
  core::Findings findings;
  CHECK_FALSE(find(choice, loaded(9), findings, {{"/1/x.dll", build(1)}, {"/2/x.dll", build(2)}}));
  REQUIRE(findings.count("symbols-other-build") == 1);
  CHECK(findings.all()[0].text.starts_with(
      "/1/x.dll is not the X.DLL of the trace and is not used: it "
      "has stamp 0x00000001, size 0x3000"));
  core::Findings unproved;
  CHECK_FALSE(find(choice, loaded(0), unproved, {{"/1/x.dll", build(1)}}));
  CHECK(unproved.count("symbols-unproved") == 1);
  CHECK_FALSE(unproved.count("symbols-other-build") == 1);
}

TEST_CASE("a given file of another name and build is not told as one of the image") {
  ImageChoice choice;
  core::Findings findings;
  choice.give("y.dll", build(1), findings);
  CHECK_FALSE(find(choice, loaded(9), findings));
  CHECK(findings.empty());
  choice.give("dir/x.dll", build(2), findings);
  CHECK_FALSE(find(choice, loaded(9), findings));
  CHECK(findings.count("symbols-other-build") == 1);
}

TEST_CASE("given files are told apart, and those that no image is of are told") {
  ImageChoice choice;
  core::Findings findings;
  choice.give("one.dll", build(1), findings);
  choice.give("copy.dll", build(1), findings);
  choice.give("two.dll", build(2), findings);
  CHECK(findings.all().at(0).text == "copy.dll is the same build as one.dll");
  CHECK(choice.pdbs().size() == 2);
  REQUIRE(find(choice, loaded(1), findings));
  CHECK_FALSE(choice.all_matched());
  core::Findings unmatched;
  choice.report_unmatched(unmatched);
  CHECK(unmatched.count("symbols-unmatched") == 1);
  CHECK(unmatched.all().at(0).text.starts_with("two.dll is not an image of the trace"));
  REQUIRE(find(choice, loaded(2), findings));
  CHECK(choice.all_matched());
}

}  // namespace
}  // namespace coldtrace
