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

TEST_CASE("PDBs whose names are no names of files are counted") {
  tracefile::NameTables names{0};
  names.finish();
  const tracefile::SchemaTable schemas;
  const NeededSymbols symbols{names, schemas};
  std::vector<NeededPdb> pdbs(4);
  pdbs[0].name = "ntdll.pdb";
  pdbs[1].name = "..";
  pdbs[2].name = "a\nb.pdb";
  pdbs[3].name = std::string(256, 'a');
  core::Findings one, all;
  note_needed_symbols(symbols, std::span{pdbs}.first(1), one);
  CHECK(one.empty());
  note_needed_symbols(symbols, pdbs, all);
  REQUIRE(all.count("symbol-name") == 1);
  CHECK(all.all().front().text.starts_with("3 PDBs have names"));
  CHECK(all.has_warnings());
}
