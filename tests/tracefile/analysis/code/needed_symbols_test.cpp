#include "coldtrace/trace_analysis/code/needed_symbols.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

TEST_CASE("uses of code add up by how events name it") {
  CodeUse use{.samples = 1, .frames = 2, .addresses = 3};
  use.add({.samples = 10, .frames = 20, .addresses = 30});
  CHECK(use.samples == 11);
  CHECK(use.frames == 22);
  CHECK(use.addresses == 33);
  CHECK(use.all() == 66);
}

TEST_CASE("PDBs whose names are not names of files are counted") {
  tracefile::NameTables names{0};
  names.finish();
  const tracefile::SchemaTable schemas;
  const NeededSymbols symbols{names, schemas};
  std::vector<NeededPdb> pdbs(5);
  pdbs[0].name = "ntdll.pdb";
  pdbs[1].name = "..";
  pdbs[2].name = "a\nb.pdb";
  pdbs[3].name = std::string(256, 'a');
  pdbs[4].name = "b\ufffdr.pdb";
  core::Findings one, all;
  note_needed_symbols(symbols, std::span{pdbs}.first(1), one);
  CHECK(one.empty());
  note_needed_symbols(symbols, pdbs, all);
  REQUIRE(all.count("symbol-name") == 1);
  CHECK(all.all().front().text.starts_with("4 PDBs have names"));
  CHECK(all.has_warnings());
}

TEST_CASE("files are used where code lies in them, and PDBs with texts of messages are") {
  NeededFiles named;
  named.pdbs.resize(3);
  named.pdbs[0].name = "code.pdb";
  named.pdbs[0].use.samples = 1;
  named.pdbs[1].name = "texts.pdb";
  named.pdbs[1].has_messages = true;
  named.pdbs[2].name = "loaded.pdb";
  named.images = {{0, {}}, {1, {.addresses = 1}}};
  const auto used = used_files(named);
  REQUIRE(used.pdbs.size() == 2);
  CHECK(used.pdbs[0].name == "code.pdb");
  CHECK(used.pdbs[1].name == "texts.pdb");
  REQUIRE(used.images.size() == 1);
  CHECK(used.images[0].image == 1);
}

TEST_CASE("that a trace needs no files is told by what was asked for") {
  const auto told = [](const NeededFiles& files, bool named, bool by_time) {
    core::Findings findings;
    note_needed_files(files, named, by_time, findings);
    if (findings.empty()) return std::string{};
    CHECK(findings.count("no-match") == 1);
    return findings.all().front().text;
  };
  NeededFiles pdb, image;
  pdb.pdbs.resize(1);
  image.images.resize(1);
  CHECK(told(pdb, false, false).empty());
  CHECK(told(image, true, true).empty());
  CHECK(told({}, true, false) ==
        "the trace does not say which images were loaded, nor which PDBs it needs");
  CHECK(told({}, false, true) ==
        "the trace has no address in an image that it names, and names no PDB with texts of "
        "messages, between --from and --to");
}
