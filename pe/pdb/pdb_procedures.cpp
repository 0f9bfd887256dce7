#include "coldtrace/pdb/pdb_procedures.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

constexpr u16 s_gproc32_st = 0x100b;
constexpr u16 s_lproc32_st = 0x100a;

bool is_procedure(u16 kind) {
  constexpr u16 s_lproc32 = 0x110f;
  constexpr u16 s_gproc32 = 0x1110;
  constexpr u16 s_lproc32_id = 0x1146;
  constexpr u16 s_gproc32_id = 0x1147;
  constexpr u16 s_lproc32_dpc = 0x1155;
  constexpr u16 s_lproc32_dpc_id = 0x1156;
  for (const auto known : {s_lproc32, s_gproc32, s_lproc32_id, s_gproc32_id, s_lproc32_dpc,
                           s_lproc32_dpc_id, s_lproc32_st, s_gproc32_st})
    if (kind == known) return true;
  return false;
}

constexpr u16 s_sepcode = 0x1132;

bool is_local(u16 kind) {
  constexpr u16 s_gproc32 = 0x1110;
  constexpr u16 s_gproc32_id = 0x1147;
  return kind != s_gproc32 && kind != s_gproc32_id && kind != s_gproc32_st;
}

struct ModuleSymbols {
  u32 stream;
  u32 size;  // of its symbols, with the signature in front
  std::string name;
};

// Where code is, by section and offset.
using Place = std::pair<u16, u32>;

struct ColdPart {
  Place place;
  Place function;
  u32 size;
};

class ProcedureReader {
 public:
  ProcedureReader(const Pdb& pdb, const PdbSections& sections,
                  const std::function<void(const Procedure&)>& use, core::Findings& findings)
      : pdb_{pdb},
        sections_{sections},
        use_{use},
        findings_{findings},
        room_of_parts_{pdb.msf().file_size()} {}

  void read() {
    u64 room = pdb_.msf().file_size();
    for (const auto& module : modules()) {
      if (module.size > room) {
        findings_.warning("pdb-procedures", std::nullopt,
                          "the modules have more symbols than the file has bytes; others are left "
                          "out");
        return;
      }
      room -= module.size;
      module_ = module.name;
      if (const auto bytes = pdb_.msf().read(module.stream, 0, module.size, "PDB module stream"))
        read_symbols(module.stream, bytes->view());
      else
        findings_.warning("pdb-procedures", bytes.error());
    }
  }

 private:
  std::vector<ModuleSymbols> modules() {
    std::vector<ModuleSymbols> modules;
    const auto& place = pdb_.dbi()->modules;
    const auto bytes =
        pdb_.msf().read(dbi_stream, place.position, place.size, "PDB module information");
    if (!bytes) {
      findings_.warning("pdb-procedures", bytes.error());
      return modules;
    }
    u64 position = 0;
    while (position < bytes->view().size()) {
      const auto at = pdb_.msf().offset_of(dbi_stream, place.position + position).value_or(0);
      core::Reader in{bytes->view().subspan(position), "PDB module information", at};
      in.skip(34, "SectionContr and Flags");
      const auto stream = in.read_u16("ModuleSymStream");
      const auto size = in.read_u32("SymByteSize");
      in.skip(24, "C11ByteSize to PdbFilePathNameIndex");
      const auto record = bytes->view().subspan(position);
      const auto name = take_name(in, record, "ModuleName");
      take_name(in, record, "ObjFileName");
      if (!in.ok()) {
        findings_.warning("pdb-procedures", in.error());
        return modules;
      }
      position += (in.consumed() + 3) / 4 * 4;
      constexpr u16 no_stream = 0xffff;
      constexpr u32 signature_size = 4;
      if (stream != no_stream && size > signature_size)
        modules.push_back({stream, size, std::string{name.substr(0, longest_module)}});
    }
    return modules;
  }

  static std::string_view take_name(core::Reader& in, core::ByteView record, core::Name field) {
    const auto rest = record.subspan(in.consumed());
    const auto name = core::read_c_string(rest, rest.size());
    in.skip(name ? name->size() + 1 : rest.size() + 1, field);
    return name.value_or(std::string_view{});
  }

  void read_symbols(u32 stream, core::ByteView bytes) {
    constexpr u32 signature_c13 = 4;
    if (core::load<u32>(bytes, 0) != signature_c13) {
      findings_.warning("pdb-procedures", pdb_.msf().offset_of(stream, 0),
                        "the symbols of a module are of another version than 4");
      return;
    }
    functions_.clear();
    parts_.clear();
    u64 position = sizeof signature_c13;
    while (position < bytes.size()) {
      const auto length = core::load<u16>(bytes, position);
      const auto record = length && *length >= 2
                              ? core::slice(bytes, position + sizeof(u16), *length)
                              : std::nullopt;
      if (!record) {
        findings_.warning("pdb-procedures", pdb_.msf().offset_of(stream, position),
                          "the symbols of a module end inside a record, at {:#x} of {:#x}",
                          position, bytes.size());
        break;
      }
      const auto kind = core::load<u16>(*record, 0).value_or(0);
      if ((is_procedure(kind) && !read_procedure(*record)) ||
          (kind == s_sepcode && !read_part(*record)))
        findings_.warning("pdb-procedures", pdb_.msf().offset_of(stream, position),
                          "a procedure ends before its name does");
      position += sizeof(u16) + record->size();
    }
    use_parts();
  }

  bool read_part(core::ByteView record) {
    core::Reader in{record, "SEPCODESYM", 0};
    in.skip(10, "rectyp, pParent, pEnd");
    ColdPart part{};
    part.size = in.read_u32("length");
    in.skip(4, "scf");
    part.place.second = in.read_u32("off");
    part.function.second = in.read_u32("offParent");
    part.place.first = in.read_u16("sect");
    part.function.first = in.read_u16("sectParent");
    if (!in.ok()) return false;
    parts_.push_back(part);
    return true;
  }

  // The parts of functions that the module has.
  void use_parts() {
    for (const auto& part : parts_) {
      const auto function = functions_.find(part.function);
      const auto address = sections_.to_rva(part.place.first, part.place.second);
      if (function == functions_.end() || !address) continue;
      if (function->second.size() > room_of_parts_) {
        findings_.warning("pdb-procedures", std::nullopt,
                          "names of parts of functions are longer than the file; others are left "
                          "out");
        return;
      }
      room_of_parts_ -= function->second.size();
      use_({function->second, *address, part.size, Procedure::Kind::cold_part, part.place.first,
            part.place.second, module_});
    }
  }

  bool read_procedure(core::ByteView record) {
    core::Reader in{record, "PROCSYM32", 0};
    const auto kind = in.read_u16("rectyp");
    in.skip(12, "pParent, pEnd, pNext");
    const auto size = in.read_u32("len");
    in.skip(12, "DbgStart, DbgEnd, typind");
    const auto offset = in.read_u32("off");
    const auto section = in.read_u16("seg");
    in.skip(1, "flags");
    if (!in.ok()) return false;
    std::optional<std::string_view> name;
    if (kind == s_gproc32_st || kind == s_lproc32_st) {
      name = core::to_chars(in.take(in.read_u8("name length"), "name"));
      if (!in.ok()) return false;
    } else {
      const auto rest = record.subspan(in.consumed());
      name = core::read_c_string(rest, rest.size());
    }
    if (!name) return false;
    // Code that the linker has removed has no address.
    if (const auto address = sections_.to_rva(section, offset); address && !name->empty()) {
      functions_.try_emplace({section, offset}, *name);
      const auto which = is_local(kind) ? Procedure::Kind::local : Procedure::Kind::global;
      use_({*name, *address, size, which, section, offset, module_});
    }
    return true;
  }

  const Pdb& pdb_;
  const PdbSections& sections_;
  const std::function<void(const Procedure&)>& use_;
  core::Findings& findings_;
  u64 room_of_parts_;  // bytes of names
  // Of the module that is read; names are views of its bytes.
  std::string_view module_;
  std::map<Place, std::string_view> functions_;
  std::vector<ColdPart> parts_;
};

}  // namespace

void read_procedures(const Pdb& pdb, const PdbSections& sections,
                     const std::function<void(const Procedure&)>& use, core::Findings& findings) {
  if (pdb.dbi() && pdb.dbi()->modules.size > 0)
    ProcedureReader{pdb, sections, use, findings}.read();
}

}  // namespace coldtrace::pe
