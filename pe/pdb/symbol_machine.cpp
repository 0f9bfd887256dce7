#include "coldtrace/pdb/symbol_machine.hpp"

namespace coldtrace::pe {

bool fits_machine(const PdbIdentity& identity, Machine image) {
  constexpr u16 chpe = 0x3a64;  // IMAGE_FILE_MACHINE_CHPE_X86
  const auto mine = static_cast<Machine>(identity.machine.value_or(0));
  if (mine == image || mine == Machine{} || image == Machine{}) return true;
  if (mine == Machine{chpe}) return image == Machine::i386 || image == Machine::arm64;
  const auto hybrid = [](Machine one) { return one == Machine::arm64ec || one == Machine::arm64x; };
  const auto wide = [&](Machine one) {
    return one == Machine::amd64 || one == Machine::arm64 || hybrid(one);
  };
  return (hybrid(mine) && wide(image)) || (hybrid(image) && wide(mine));
}

bool belongs_to(const SymbolFile& file, const std::optional<PdbReference>& reference,
                Machine image) {
  return file.belongs_to(reference) && fits_machine(file.identity, image);
}

void compare_with_image(SymbolFile& file, const std::optional<PdbReference>& reference,
                        Machine image) {
  file.compare(reference);
  if (!*file.matches_image || fits_machine(file.identity, image)) return;
  file.matches_image = false;
  file.findings.warning("pdb-mismatch", std::nullopt,
                        "the {} has the GUID and age that the image asks for, but is for another "
                        "machine, {}; the image is for {}",
                        file.pdb ? "PDB" : "symbol table",
                        to_string(static_cast<Machine>(*file.identity.machine)), to_string(image));
}

void join_with_image(SymbolFile& file, const Image& image,
                     const std::optional<PdbReference>& reference) {
  compare_with_image(file, reference, image.machine());
  if (*file.matches_image) file.take_sections(image.sections());
}

}  // namespace coldtrace::pe
