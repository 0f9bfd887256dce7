#include "coldtrace/pe/loaded_file.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using pe::Likeness;
using pe::LoadedFile;

const core::Guid guid = fixtures::PeCodeView{}.guid;
const core::Guid other_guid =
    core::to_guid(fixtures::to_bytes({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));

pe::PdbReference pdb(const core::Guid& id, u32 age) {
  return {"other/name.pdb", id, std::nullopt, age};
}

TEST_CASE("a file is the loaded one when what both say is the same") {
  struct Row {
    const char* why;
    LoadedFile loaded;
    Likeness likeness;
  };
  const auto row = GENERATE(values<Row>({
      {"all of it", {0x4ce7ab88, 0x1234, 0x3000, pdb(guid, 1)}, Likeness::same},
      {"without a PDB", {0x4ce7ab88, 0x1234, 0x3000, {}}, Likeness::same},
      {"the stamp alone", {0x4ce7ab88, 0, 0, {}}, Likeness::same},
      {"the checksum alone", {0, 0x1234, 0, {}}, Likeness::same},
      {"the PDB alone", {0, 0, 0, pdb(guid, 1)}, Likeness::same},
      {"a size within the last page", {0x4ce7ab88, 0, 0x2001, {}}, Likeness::same},
      {"another stamp", {0x4ce7ab89, 0x1234, 0x3000, pdb(guid, 1)}, Likeness::other},
      {"another checksum", {0x4ce7ab88, 0x1235, 0x3000, pdb(guid, 1)}, Likeness::other},
      {"another size", {0x4ce7ab88, 0x1234, 0x4000, pdb(guid, 1)}, Likeness::other},
      {"another GUID", {0x4ce7ab88, 0x1234, 0x3000, pdb(other_guid, 1)}, Likeness::other},
      {"another age", {0x4ce7ab88, 0x1234, 0x3000, pdb(guid, 2)}, Likeness::other},
      {"nothing", {}, Likeness::unproved},
      {"the size alone", {0, 0, 0x3000, {}}, Likeness::unproved},
      {"the size alone, another one", {0, 0, 0x9000, {}}, Likeness::other},
  }));
  CAPTURE(row.why);
  fixtures::PeSpec spec;
  spec.code_view = fixtures::PeCodeView{};
  test::Opened image{spec};
  const auto identity = pe::read_identity(*image, image.findings);
  REQUIRE(identity.size_of_image == 0x3000);
  CHECK(pe::compare(identity, row.loaded) == row.likeness);
}

TEST_CASE("what a file does not say is not compared") {
  fixtures::PeSpec spec;
  spec.time_date_stamp = 0;
  spec.checksum = 0;
  test::Opened image{spec};
  const auto identity = pe::read_identity(*image, image.findings);
  CHECK(pe::compare(identity, {0x4ce7ab88, 0x1234, 0, pdb(guid, 1)}) == Likeness::unproved);
}

}  // namespace
}  // namespace coldtrace
