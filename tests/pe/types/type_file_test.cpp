#include "coldtrace/pdb/type_file.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/pdb_file.hpp"
#include "tests/pe/pdb/pdb_test.hpp"

namespace coldtrace {
namespace {

pe::TypeFile file_with(std::vector<fixtures::Bytes> types) {
  fixtures::PdbSpec spec;
  spec.types = std::move(types);
  auto file = pe::TypeFile::open("made.pdb", build_pdb(spec).bytes);
  REQUIRE(file);
  return std::move(*file);
}

TEST_CASE("what a file without types lacks is not proved") {
  auto none = file_with({});
  pe::note_unproved_types(none, "added");
  REQUIRE(none.findings.count("types-unproved") == 1);
  CHECK(none.findings.has_warnings());
  CHECK(none.findings.all().back().text ==
        "the file has no types: what it lacks is not proved to be added");
  auto some =
      file_with({fixtures::build_field_list({}), fixtures::build_structure({"S", "", 0x1000})});
  pe::note_unproved_types(some, "added");
  CHECK(some.findings.count("types-unproved") == 0);
}

TEST_CASE("a file has all types where there are some and none of them is in another file") {
  struct Row {
    const char* why;
    bool types;
    u32 type_servers;  // TypeServerMapSize of the DBI stream
    bool all;
  };
  const auto row = GENERATE(values<Row>({
      {"types", true, 0, true},
      {"no types", false, 0, false},
      {"types, and more of them elsewhere", true, 4, false},
      {"all types elsewhere", false, 4, false},
  }));
  CAPTURE(row.why);
  fixtures::PdbSpec spec;
  if (row.types)
    spec.types = {fixtures::build_field_list({}), fixtures::build_structure({"S", "", 0x1000})};
  auto built = build_pdb(spec);
  built.patch_stream(fixtures::pdb_dbi_stream, 40, row.type_servers);
  const auto file = pe::SymbolFile::open("made.pdb", built.bytes);
  REQUIRE(file);
  CHECK(pe::has_all_types(*file) == row.all);
}

TEST_CASE("a symbol table has all types where it has any") {
  pe::SymbolFile table;
  CHECK_FALSE(pe::has_all_types(table));
  const auto record = fixtures::build_structure({"S", "", 0, 0x1505, true});
  const fixtures::ByteWriter length = std::move(fixtures::ByteWriter{}.write_u16(record.size()));
  table.types.records = length.bytes();
  table.types.records.insert(table.types.records.end(), record.begin(), record.end());
  CHECK(pe::has_all_types(table));
}

}  // namespace
}  // namespace coldtrace
