#include "coldtrace/pdb/pdb_modules.hpp"

#include "pe/pdb/module_text.hpp"

namespace coldtrace::pe {
namespace {

// What the symbols of a module begin with: those of Visual C++ 4 and before, of 5 and 6, and since.
constexpr u32 signature_c7 = 1;
constexpr u32 signature_c11 = 2;
constexpr u32 signature_c13 = 4;

bool is_signature(u32 found) {
  return found == signature_c7 || found == signature_c11 || found == signature_c13;
}

}  // namespace

std::vector<PdbModule> read_modules(const Pdb& pdb, core::Findings& findings) {
  std::vector<PdbModule> modules;
  if (!pdb.dbi() || pdb.dbi()->modules.size == 0) return modules;
  const auto& place = pdb.dbi()->modules;
  const auto bytes =
      pdb.msf().read(dbi_stream, place.position, place.size, "PDB module information");
  if (!bytes) {
    findings.warning("pdb-procedures", bytes.error());
    return modules;
  }
  // MODI50 of microsoft-pdb, PDB/dbi/dbi.h: no checksums, and no names of files behind the rest.
  const bool is_short = pdb.dbi()->version < DbiHeader::version_60;
  u64 position = 0;
  while (position < bytes->view().size()) {
    const auto record = bytes->view().subspan(position);
    core::Reader in{record, "PDB module information", place.position + position};
    PdbModule module{};
    in.skip(is_short ? 26 : 34, "SectionContr and Flags");
    const auto stream = in.read_u16("ModuleSymStream");
    module.symbol_bytes = in.read_u32("SymByteSize");
    in.skip(8, "C11ByteSize and C13ByteSize");
    module.source_files = in.read_u16("SourceFileCount");
    in.skip(is_short ? 6 : 14, "Padding to PdbFilePathNameIndex");
    module.name = take_module_text(in, record, longest_module, "ModuleName");
    module.object = take_module_text(in, record, longest_module, "ObjFileName");
    if (!in.ok()) {
      findings.warning("pdb-procedures", pdb.msf().placed(in.error(), dbi_stream));
      return modules;
    }
    position += (in.consumed() + 3) / 4 * 4;
    constexpr u16 no_stream = 0xffff;
    if (stream != no_stream) module.stream = stream;
    modules.push_back(std::move(module));
  }
  return modules;
}

ModuleSymbols::ModuleSymbols(core::Borrowed<Pdb> pdb, core::Findings& findings)
    : pdb_{pdb.get()},
      findings_{findings},
      modules_{read_modules(pdb_, findings)},
      room_{pdb_.msf().file_size()} {}

bool ModuleSymbols::next_module() {
  while (next_ < modules_.size()) {
    const auto& module = modules_[next_++];
    if (!module.stream || module.symbol_bytes <= sizeof signature_c13) continue;
    if (module.symbol_bytes > room_) {
      findings_.warning("pdb-procedures", std::nullopt,
                        "the modules have more symbols than the file has bytes; others are left "
                        "out");
      next_ = modules_.size();
      return false;
    }
    room_ -= module.symbol_bytes;
    if (!seen_.insert(*module.stream).second) {
      findings_.warning(
          "pdb-procedures", std::nullopt,
          "several modules have their symbols in stream {}; those of the first are used",
          *module.stream);
      continue;
    }
    auto bytes = pdb_.msf().read(*module.stream, 0, module.symbol_bytes, "PDB module stream");
    if (!bytes) {
      findings_.warning("pdb-procedures", bytes.error());
      continue;
    }
    bytes_ = std::move(*bytes);
    position_ = sizeof signature_c13;
    const auto signature = core::load<u32>(bytes_.view(), 0).value_or(0);
    if (is_signature(signature)) return true;
    findings_.warning("pdb-procedures", pdb_.msf().offset_of(*module.stream, 0),
                      "the symbols of a module are of the unknown version {:#x}", signature);
  }
  return false;
}

bool ModuleSymbols::next(core::ByteView& record) {
  const auto bytes = bytes_.view();
  if (position_ >= bytes.size()) return false;
  record_ = position_;
  const auto length = core::load<u16>(bytes, record_);
  const auto found = length && *length >= sizeof(u16)
                         ? core::slice(bytes, record_ + sizeof(u16), *length)
                         : std::nullopt;
  if (!found) {
    findings_.warning("pdb-procedures", pdb_.msf().offset_of(*module().stream, record_),
                      "the symbols of a module end inside a record, at {:#x} of {:#x}", record_,
                      bytes.size());
    position_ = bytes.size();
    return false;
  }
  record = *found;
  position_ = record_ + sizeof(u16) + found->size();
  return true;
}

void ModuleSymbols::reject(std::string_view why) {
  findings_.warning("pdb-procedures", pdb_.msf().offset_of(*module().stream, record_), "{}", why);
}

}  // namespace coldtrace::pe
