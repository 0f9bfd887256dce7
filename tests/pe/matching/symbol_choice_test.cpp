#include "coldtrace/pdb/symbol_choice.hpp"

#include <map>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using pe::Identity;
using pe::LoadedFile;
using pe::PdbReference;
using pe::SymbolChoice;

PdbReference pdb(std::string name, u32 age) {
  return {std::move(name), core::Guid{{std::byte{1}}}, std::nullopt, age};
}

// Builds differ in their stamps.
Identity build(u32 stamp, std::optional<PdbReference> wanted) {
  Identity identity{};
  identity.time_date_stamp = stamp;
  identity.size_of_image = 0x3000;
  identity.pdb = std::move(wanted);
  return identity;
}

SymbolChoice::Traced traced(std::string_view name, u32 stamp,
                            std::optional<PdbReference> wanted = std::nullopt) {
  return {name, {stamp, 0, 0x3000, std::move(wanted)}};
}

// Files in folders, which are found by name.
class Folders {
 public:
  std::map<std::string, std::optional<Identity>> images;
  std::map<std::string, std::optional<PdbReference>> pdbs;

  SymbolChoice choice() {
    SymbolChoice::Files files;
    files.images = [this](std::string_view name) {
      named_ = named(images, name);
      return std::span<const std::string>{named_};
    };
    files.identify_image = [this](const std::string& path) -> const std::optional<Identity>& {
      return images.at(path);
    };
    files.pdbs = [this](const PdbReference& wanted) { return named(pdbs, wanted.name); };
    files.identify_pdb = [this](const std::string& path) -> const std::optional<PdbReference>& {
      return pdbs.at(path);
    };
    return {given_images, given_pdbs, std::move(files)};
  }

  pe::ImageChoice given_images;
  pe::PdbChoice given_pdbs;
  core::Findings findings;

 private:
  static std::vector<std::string> named(const auto& files, std::string_view name) {
    std::vector<std::string> paths;
    for (const auto& [path, identity] : files)
      if (path.ends_with(name)) paths.push_back(path);
    return paths;
  }

  std::vector<std::string> named_;
};

const std::vector<std::string> folder{"/1", "/2"};

TEST_CASE("an image has the PDB that its file asks for, by the name that the file has for it") {
  Folders files;
  files.images = {{"/1/x.dll", build(1, pdb("own.pdb", 1))}};
  files.pdbs = {{"/1/own.pdb", pdb("own.pdb", 1)}, {"/1/traced.pdb", pdb("traced.pdb", 1)}};
  const auto found =
      files.choice().find(traced("\\Windows\\x.dll", 1, pdb("traced.pdb", 1)), files.findings);
  REQUIRE(found);
  CHECK(found->image == "/1/x.dll");
  CHECK(found->pdb == "/1/own.pdb");
  CHECK(files.findings.empty());
}

TEST_CASE("without its file an image has the PDB that the trace says, or nothing") {
  Folders files;
  files.images = {{"/1/x.dll", build(1, pdb("own.pdb", 1))}};
  files.pdbs = {{"/1/own.pdb", pdb("own.pdb", 1)}, {"/1/traced.pdb", pdb("traced.pdb", 2)}};
  const auto found = files.choice().find(traced("x.dll", 9, pdb("traced.pdb", 2)), files.findings);
  REQUIRE(found);
  CHECK(found->image.empty());
  CHECK(found->pdb == "/1/traced.pdb");
  CHECK(files.findings.count("symbols-other-build") == 1);
  CHECK_FALSE(files.choice().find(traced("x.dll", 9), files.findings));
  CHECK_FALSE(files.choice().find(traced("y.dll", 1, pdb("other.pdb", 2)), files.findings));
}

TEST_CASE("an image without a PDB is enough") {
  Folders files;
  files.images = {{"/1/x.dll", build(1, pdb("lost.pdb", 1))}};
  const auto found = files.choice().find(traced("x.dll", 1), files.findings);
  REQUIRE(found);
  CHECK(found->image == "/1/x.dll");
  CHECK(found->pdb.empty());
}

TEST_CASE("folders in which no name is that of an image or its PDB are told") {
  struct Row {
    const char* why;
    std::string image, pdb;  // in the folders
    std::vector<PdbReference> others;
    bool given;  // an image that asks for given.pdb
    bool told;
  };
  const auto row = GENERATE(values<Row>({
      {"no name matches", "/1/y.dll", "/2/y.pdb", {}, false, true},
      {"that of the image does", "/1/x.dll", "/2/y.pdb", {}, false, false},
      {"that of its PDB does", "/1/y.dll", "/2/x.pdb", {}, false, false},
      {"that of the PDB of a given image does", "/1/y.dll", "/2/given.pdb", {}, true, false},
      {"other PDBs are wanted, too", "/1/y.dll", "/2/y.pdb", {pdb("z.pdb", 1)}, false, false},
  }));
  CAPTURE(row.why);
  Folders files;
  files.images = {{row.image, build(5, std::nullopt)}};
  files.pdbs = {{row.pdb, pdb("any.pdb", 5)}};
  if (row.given) files.given_images.give("/3/g.dll", build(7, pdb("given.pdb", 7)), files.findings);
  const std::vector images{traced("x.dll", 1, pdb("x.pdb", 1)), traced("g.dll", 7)};
  files.choice().note_unmatched(images, row.others, folder, files.findings);
  CHECK(files.findings.count("symbols-unmatched") == (row.told ? 1 : 0));
  if (row.told)
    CHECK(files.findings.all().front().text ==
          "no file in /1, /2 has the name of an image of the trace, or of its PDB");
  core::Findings without_folders;
  files.choice().note_unmatched(images, row.others, {}, without_folders);
  CHECK(without_folders.empty());
}

TEST_CASE("given files of no image and no PDB that is asked for are told") {
  Folders files;
  files.given_images.give("a.dll", build(1, pdb("a.pdb", 1)), files.findings);
  files.given_images.give("b.dll", build(2, std::nullopt), files.findings);
  files.given_pdbs.give("a.pdb", pdb("a.pdb", 1), files.findings);      // of an image's file
  files.given_pdbs.give("c.pdb", pdb("c.pdb", 3), files.findings);      // as the trace says
  files.given_pdbs.give("other.pdb", pdb("o.pdb", 4), files.findings);  // wanted by another
  files.given_pdbs.give("none.pdb", pdb("n.pdb", 5), files.findings);
  const std::vector images{traced("a.dll", 1), traced("c.dll", 3, pdb("c.pdb", 3))};
  const std::vector others{pdb("o.pdb", 4)};
  files.choice().note_unmatched(images, others, {}, files.findings);
  CHECK(files.findings.count("symbols-unmatched") == 2);
  CHECK(files.findings.all().front().text.starts_with("b.dll is not an image of the trace"));
  core::Findings of_pdbs;
  files.given_pdbs.report_unmatched(of_pdbs);
  REQUIRE(of_pdbs.count("symbols-unmatched") == 1);
  CHECK(of_pdbs.all().front().text.starts_with("none.pdb"));
}

}  // namespace
}  // namespace coldtrace
