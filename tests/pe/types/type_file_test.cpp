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

}  // namespace
}  // namespace coldtrace
