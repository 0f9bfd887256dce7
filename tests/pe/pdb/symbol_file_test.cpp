#include "coldtrace/pdb/symbol_file.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/symbol_machine.hpp"
#include "fixtures/builders/pdb_file.hpp"
#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace {
namespace {

using pe::SymbolFile;

TEST_CASE("a PDB is opened with its public symbols, and knows its image") {
  const fixtures::TemporaryDirectory directory;
  const fixtures::PdbSpec spec;
  const auto built = fixtures::build_pdb(spec);
  auto file = SymbolFile::open(directory.write("a.pdb", core::to_chars(built.view())));
  REQUIRE(file);
  CHECK(file->findings.empty());
  CHECK(file->publics.symbols.size() == spec.publics.size());
  CHECK_FALSE(file->matches_image);

  pe::PdbReference reference{"other/name.pdb", spec.guid, std::nullopt, spec.age};
  CHECK(file->belongs_to(reference));
  CHECK_FALSE(file->belongs_to(std::nullopt));
  file->compare(reference);
  CHECK(file->matches_image == true);
  CHECK(file->findings.empty());

  ++reference.age;
  CHECK_FALSE(file->belongs_to(reference));
  file->compare(reference);
  CHECK(file->matches_image == false);
  CHECK(file->findings.count("pdb-mismatch") == 1);
}

TEST_CASE("a PDB of the right GUID and age for another machine is not that of the image") {
  using pe::Machine;
  const fixtures::TemporaryDirectory directory;
  const fixtures::PdbSpec spec;
  const auto built = fixtures::build_pdb(spec);
  const auto path = directory.write("a.pdb", core::to_chars(built.view()));
  const pe::PdbReference own{"a.pdb", spec.guid, std::nullopt, spec.age};
  const pe::PdbReference other{"a.pdb", spec.guid, std::nullopt, spec.age + 1};
  const auto compare = [&](const pe::PdbReference& reference, Machine machine, std::size_t told) {
    auto file = SymbolFile::open(path);
    REQUIRE(file);
    pe::compare_with_image(*file, reference, machine);
    CHECK(file->findings.count("pdb-mismatch") == told);
    CHECK(file->matches_image == (told == 0));
  };
  compare(own, Machine::amd64, 0);
  compare(own, Machine::i386, 1);
  compare(other, Machine::amd64, 1);
  compare(other, Machine::i386, 1);
}

TEST_CASE("a PDB with sections of its own takes none of an image") {
  const fixtures::TemporaryDirectory directory;
  const auto built = fixtures::build_pdb({});
  auto file = SymbolFile::open(directory.write("a.pdb", core::to_chars(built.view())));
  REQUIRE(file);
  const auto own = file->sections.headers().size();
  REQUIRE(own > 0);
  const std::vector<pe::SectionHeader> others(own + 1);
  file->take_sections(others);
  CHECK(file->sections.headers().size() == own);
}

TEST_CASE("a PDB fits images of its machine, and of the other half of a hybrid") {
  using pe::Machine;
  const auto fits = [](u16 machine, Machine image) {
    pe::PdbIdentity identity;
    identity.machine = machine;
    return pe::fits_machine(identity, image);
  };
  CHECK(fits(0x8664, Machine::amd64));
  CHECK_FALSE(fits(0x8664, Machine::i386));
  CHECK_FALSE(fits(0x8664, Machine::arm64));
  CHECK(fits(0, Machine::i386));
  CHECK(fits(0x8664, Machine::unknown));
  CHECK(pe::fits_machine({}, Machine::arm64));
  CHECK(fits(0x3a64, Machine::i386));  // CHPE
  CHECK(fits(0x3a64, Machine::arm64));
  CHECK_FALSE(fits(0x3a64, Machine::amd64));
  CHECK(fits(0xa641, Machine::amd64));  // ARM64EC
  CHECK(fits(0xaa64, Machine::arm64x));
  CHECK_FALSE(fits(0xa641, Machine::i386));
  CHECK_FALSE(fits(0x14c, Machine::arm64x));
}

TEST_CASE("a file that cannot be opened is told apart from one that is not a PDB") {
  const fixtures::TemporaryDirectory directory;
  const auto missing = SymbolFile::open(directory.path("missing"));
  REQUIRE_FALSE(missing);
  CHECK_FALSE(missing.error().kind);
  CHECK(missing.error().error.fault == core::Fault::io);

  const auto elf = SymbolFile::open(directory.write("elf",
                                                    "\x7f"
                                                    "ELF and more"));
  REQUIRE_FALSE(elf);
  CHECK(elf.error().kind == core::FileKind::elf);
}

}  // namespace
}  // namespace coldtrace
