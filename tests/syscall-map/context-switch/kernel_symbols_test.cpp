#include "coldtrace/syscall-map/kernel_symbols.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/pdb_file.hpp"
#include "fixtures/builders/pe_image.hpp"
#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace {
namespace {

pe::SymbolFile open_pdb(const fixtures::TemporaryDirectory& directory, std::string_view name,
                        const fixtures::PdbSpec& spec) {
  const auto built = fixtures::build_pdb(spec);
  auto file = pe::SymbolFile::open(directory.write(name, core::to_chars(built.view())));
  REQUIRE(file);
  return std::move(*file);
}

TEST_CASE("of several PDBs a kernel takes the one that it names") {
  const fixtures::TemporaryDirectory directory;
  fixtures::PdbSpec mine, other;
  mine.sections = other.sections = {{".text", 0x1000, 0x100}};
  mine.publics = {{"KiSwapContext", 1, 0x10}, {"nowhere", 0, 4, 0}};
  other.publics = {{"KiSwapContext", 1, 0x20}};
  other.age = mine.age + 1;
  std::vector<pe::SymbolFile> files;
  files.push_back(open_pdb(directory, "other.pdb", other));
  files.push_back(open_pdb(directory, "mine.pdb", mine));

  core::Findings findings;
  const auto built = fixtures::build_pe();
  const auto image = pe::Image::open(built.bytes, {}, findings);
  REQUIRE(image);
  pe::Identity identity{};
  identity.pdb = pe::PdbReference{"ntkrnlmp.pdb", mine.guid, std::nullopt, mine.age};
  findings = {};

  const auto symbols = syscall_map::find_kernel_symbols(*image, identity, files, findings);
  CHECK(symbols.path == directory.path("mine.pdb"));
  REQUIRE(symbols.places.size() == 1);  // a name without an address is not a place
  CHECK(symbols.places[0].name == "KiSwapContext");
  CHECK(symbols.places[0].rva == pe::Rva{0x1010});
  CHECK(findings.count("pdb-mismatch") == 0);

  identity.pdb->age = 99;
  CHECK(syscall_map::find_kernel_symbols(*image, identity, files, findings).path.empty());
  CHECK(findings.count("pdb-mismatch") == 1);
  // Without any there is nothing to tell.
  findings = {};
  CHECK(syscall_map::find_kernel_symbols(*image, identity, {}, findings).places.empty());
  CHECK(findings.empty());
}

}  // namespace
}  // namespace coldtrace
