#include "coldtrace/pdb/module_list.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/pdb_file.hpp"
#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace {
namespace {

TEST_CASE("modules are listed in the order of the file, chosen by names and globs") {
  const fixtures::TemporaryDirectory folder;
  fixtures::PdbSpec spec;
  spec.modules = {
      {"z.obj", {{"first", 0, 0x18}}}, {"import:a.dll", {}}, {"b.obj", {{"second", 0x20}}}};
  const auto file =
      pe::SymbolFile::open(folder.write("a.pdb", core::to_chars(fixtures::build_pdb(spec).view())));
  REQUIRE(file);
  core::Findings findings;
  const auto all = pe::list_modules(*file, {}, findings);
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "z.obj");
  CHECK(all[0].symbol_bytes > 0);
  CHECK(all[1].name == "import:a.dll");
  CHECK(all[1].symbol_bytes == 0);
  CHECK(all[2].index == 2);
  const std::vector<std::string> names{"*.obj"};
  const auto chosen = pe::list_modules(*file, names, findings);
  REQUIRE(chosen.size() == 2);
  CHECK(chosen[1].name == "b.obj");
  CHECK(chosen[1].index == 2);
  CHECK(findings.count("no-match") == 0);
  const std::vector<std::string> unknown{"c.obj"};
  CHECK(pe::list_modules(*file, unknown, findings).empty());
  CHECK(findings.count("no-match") == 1);
}

}  // namespace
}  // namespace coldtrace
