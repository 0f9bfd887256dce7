#include "coldtrace/pdb/pdb_choice.hpp"

#include <map>

#include <catch2/catch.hpp>

#include "coldtrace/core/guid.hpp"
#include "fixtures/builders/pe_image.hpp"

namespace coldtrace {
namespace {

using pe::PdbChoice;
using pe::PdbReference;

const core::Guid guid =
    core::to_guid(fixtures::to_bytes({0xcb, 0xfa, 0xb9, 0x1e, 0xea, 0x04, 0x3b, 0x27, 0xb2, 0x4b,
                                      0xa5, 0x2c, 0x8b, 0x8d, 0x33, 0x6a}));

PdbReference pdb(u32 age, const std::string& name = "d:\\build\\NTDLL.pdb") {
  return {name, guid, std::nullopt, age};
}

// The files that there are, by path.
class Files {
 public:
  explicit Files(std::map<std::string, std::optional<PdbReference>> all) : all_{std::move(all)} {
    for (const auto& [path, pdb] : all_) paths.push_back(path);
  }

  std::optional<std::string> find(PdbChoice& choice, const PdbReference& wanted,
                                  core::Findings& findings) const {
    return choice.find(
        wanted, paths, [&](const std::string& path) -> const auto& { return all_.at(path); },
        findings);
  }

  std::vector<std::string> paths;

 private:
  std::map<std::string, std::optional<PdbReference>> all_;
};

TEST_CASE("a PDB is looked for by its name, packed or not, and as a table of Volatility") {
  CHECK(pe::pdb_file_names(pdb(2)) ==
        std::vector<std::string>{"NTDLL.pdb", "NTDLL.pdb.zst", "NTDLL.pdb.gz", "NTDLL.pdb.xz",
                                 "NTDLL.pdb.bz2", "1EB9FACB04EA273BB24BA52C8B8D336A-2.json",
                                 "1EB9FACB04EA273BB24BA52C8B8D336A-2.json.xz",
                                 "1EB9FACB04EA273BB24BA52C8B8D336A-2.json.gz",
                                 "1EB9FACB04EA273BB24BA52C8B8D336A-2.json.bz2",
                                 "1EB9FACB04EA273BB24BA52C8B8D336A-2.json.zst"});
  CHECK(pe::pdb_file_names({"old.pdb", std::nullopt, 1U, 2}).size() == 5);
}

TEST_CASE("what lies where a symbol server has it is looked at first, and all else as it came") {
  std::vector<std::string> paths{"/flat/ntdll.pdb", "ntdll.pdb",
                                 "/s/ntdll.pdb/1eb9facb04ea273bb24ba52c8b8d336a2/ntdll.pdb",
                                 "/s/ntdll.pdb/1EB9FACB04EA273BB24BA52C8B8D336A1/ntdll.pdb"};
  pe::sort_pdb_candidates(paths, pdb(1));
  CHECK(paths == std::vector<std::string>{
                     "/s/ntdll.pdb/1EB9FACB04EA273BB24BA52C8B8D336A1/ntdll.pdb", "/flat/ntdll.pdb",
                     "ntdll.pdb", "/s/ntdll.pdb/1eb9facb04ea273bb24ba52c8b8d336a2/ntdll.pdb"});
  std::vector<std::string> many(2000, "ntdll.pdb");
  pe::sort_pdb_candidates(many, pdb(1));
  CHECK(many.size() == 1024);
}

TEST_CASE("the PDB of an image has its GUID and age, whatever its name") {
  PdbChoice choice;
  core::Findings findings;
  choice.give("given.pdb", pdb(1, ""), findings);
  const Files files{{{"/a", std::nullopt}, {"/b", pdb(2)}, {"/c", pdb(3)}}};
  CHECK(files.find(choice, pdb(1), findings) == "given.pdb");
  CHECK(files.find(choice, pdb(3), findings) == "/c");
  CHECK(findings.empty());
}

TEST_CASE(
    "that all candidates are other builds is told of the first, unless another image has it") {
  PdbChoice choice;
  core::Findings findings;
  const Files files{{{"/a", std::nullopt}, {"/b", pdb(2)}, {"/c", pdb(3)}}};
  CHECK_FALSE(files.find(choice, pdb(9), findings));
  REQUIRE(findings.count("symbols-other-build") == 1);
  CHECK(findings.all()[0].text ==
        "/b has GUID 1eb9facb-04ea-273b-b24b-a52c8b8d336a and age 2 and is not used: the image "
        "asks for GUID 1eb9facb-04ea-273b-b24b-a52c8b8d336a and age 9");
  choice.expect(pdb(3, "ntdll.PDB"));
  core::Findings quiet;
  CHECK_FALSE(files.find(choice, pdb(9), quiet));
  CHECK(quiet.empty());
}

TEST_CASE("without a GUID the time stamp and the age tell the PDB that is asked for") {
  PdbChoice choice;
  core::Findings findings;
  const PdbReference old{"old.pdb", std::nullopt, 0x1234U, 1};
  const Files files{{{"/old.pdb", old}}};
  CHECK(files.find(choice, old, findings) == "/old.pdb");
  CHECK(findings.empty());
  CHECK_FALSE(files.find(choice, {"old.pdb", std::nullopt, 0x1235U, 1}, findings));
  CHECK(findings.all().at(0).text ==
        "/old.pdb has time stamp 0x00001234 and age 1 and is not used: the image asks for time "
        "stamp 0x00001235 and age 1");
  CHECK_FALSE(files.find(choice, {"old.pdb", std::nullopt, 0x1234U, 2}, findings));
  CHECK_FALSE(files.find(choice, {"old.pdb", std::nullopt, std::nullopt, 1}, findings));
}

TEST_CASE("files that are given are told apart, and those that nothing asks for are told") {
  PdbChoice choice;
  core::Findings findings;
  choice.give("one.pdb", pdb(1), findings);
  choice.give("copy.pdb", pdb(1), findings);
  choice.give("two.pdb", pdb(2), findings);
  choice.give("three.pdb", pdb(3), findings);
  REQUIRE(findings.count("image-twice") == 1);
  CHECK(findings.all()[0].text == "copy.pdb has the GUID and age of one.pdb");
  CHECK(Files{{}}.find(choice, pdb(1), findings) == "one.pdb");
  choice.note_asked_for(pdb(2));
  CHECK_FALSE(choice.all_asked_for());
  core::Findings unmatched;
  choice.report_unmatched(unmatched);
  REQUIRE(unmatched.count("symbols-unmatched") == 1);
  CHECK(unmatched.all()[0].text.starts_with("three.pdb belongs to no image"));
  choice.note_asked_for(pdb(3));
  CHECK(choice.all_asked_for());
}

}  // namespace
}  // namespace coldtrace
