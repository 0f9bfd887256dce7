#include "coldtrace/pdb/type_file_comparison.hpp"

#include "fixtures/builders/pdb_file.hpp"
#include "tests/pe/pdb/pdb_test.hpp"

namespace coldtrace {
namespace {

// A PDB with structures of these names, 0x10 bytes each.
pe::TypeFile pdb_with(const std::vector<std::string>& names) {
  fixtures::PdbSpec spec;
  for (const auto& name : names) {
    const auto fields = 0x1000 + static_cast<u32>(spec.types.size());
    spec.types.push_back(fixtures::build_field_list({{"a"}}));
    spec.types.push_back(fixtures::build_structure({name, "", fields}));
  }
  auto file = pe::TypeFile::open("made.pdb", build_pdb(spec).bytes);
  REQUIRE(file);
  file->findings = {};
  return std::move(*file);
}

// The same as a symbol table has them: no PDB.
pe::TypeFile table_with(const std::vector<std::string>& names) {
  auto file = pdb_with(names);
  file.pdb.reset();
  return file;
}

TEST_CASE("a PDB and a symbol table are compared as two tables, and the PDB says so") {
  const bool pdb_first = GENERATE(false, true);
  CAPTURE(pdb_first);
  auto pdb = pdb_with({"Both", "Pdb"});
  auto table = table_with({"Both"});
  const auto reduce = [&](const pe::TypeFile& file) -> std::optional<pe::TypeFile> {
    CHECK(&file == &pdb);
    return table_with({"Both"});
  };
  const auto compared = pdb_first ? pe::compare_type_files(pdb, table, {}, reduce)
                                  : pe::compare_type_files(table, pdb, {}, reduce);
  CHECK(compared.comparison.same == 1);
  CHECK(compared.comparison.changes.empty());
  CHECK(&compared.table_of(pdb) == &compared.reduced->table);
  CHECK(&compared.table_of(table) == &table.table);
  CHECK(pdb.findings.count("types-reduced") == 1);
  CHECK(table.findings.empty());
}

TEST_CASE("files of one kind are not reduced, nor is a PDB of which no table can be made") {
  const auto unused = [](const pe::TypeFile&) -> std::optional<pe::TypeFile> {
    FAIL("nothing is to be reduced");
    return std::nullopt;
  };
  auto before = pdb_with({"Both"});
  auto after = pdb_with({"Both", "New"});
  CHECK(pe::compare_type_files(before, after, {}, unused).comparison.added == 1);
  CHECK(before.findings.empty());
  auto table = table_with({"Both"});
  const auto compared = pe::compare_type_files(
      table, after, {}, [](const pe::TypeFile&) { return std::optional<pe::TypeFile>{}; });
  CHECK(compared.comparison.added == 1);
  CHECK(&compared.table_of(after) == &after.table);
  CHECK(after.findings.empty());
}

TEST_CASE("types beside a file that has none are not proved to be new or gone") {
  auto none = pdb_with({});
  auto some = pdb_with({"S"});
  CHECK(pe::compare_type_files(none, some, {}, {}).comparison.added == 1);
  REQUIRE(none.findings.count("types-unproved") == 1);
  CHECK(none.findings.all().back().text.ends_with("is not proved to be added"));
  none.findings = {};
  CHECK(pe::compare_type_files(some, none, {}, {}).comparison.removed == 1);
  REQUIRE(none.findings.count("types-unproved") == 1);
  CHECK(none.findings.all().back().text.ends_with("is not proved to be removed"));
  CHECK(some.findings.empty());
}

}  // namespace
}  // namespace coldtrace
