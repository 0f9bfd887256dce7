#include "coldtrace/pdb/pdb_procedures.hpp"

#include <algorithm>
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

struct ModuleSymbols {
  u32 stream;
  u32 size;  // of its symbols, with the signature in front
};

class ProcedureReader {
 public:
  ProcedureReader(const Pdb& pdb, const PdbSections& sections,
                  const std::function<void(const Procedure&)>& use, core::Findings& findings)
      : pdb_{pdb}, sections_{sections}, use_{use}, findings_{findings} {}

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
      skip_name(in, record, "ModuleName");
      skip_name(in, record, "ObjFileName");
      if (!in.ok()) {
        findings_.warning("pdb-procedures", in.error());
        return modules;
      }
      position += (in.consumed() + 3) / 4 * 4;
      constexpr u16 no_stream = 0xffff;
      constexpr u32 signature_size = 4;
      if (stream != no_stream && size > signature_size) modules.push_back({stream, size});
    }
    return modules;
  }

  static void skip_name(core::Reader& in, core::ByteView record, core::Name field) {
    const auto rest = record.subspan(in.consumed());
    const auto name = core::read_c_string(rest, rest.size());
    in.skip(name ? name->size() + 1 : rest.size() + 1, field);
  }

  void read_symbols(u32 stream, core::ByteView bytes) {
    constexpr u32 signature_c13 = 4;
    if (core::load<u32>(bytes, 0) != signature_c13) {
      findings_.warning("pdb-procedures", pdb_.msf().offset_of(stream, 0),
                        "the symbols of a module are of another version than 4");
      return;
    }
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
        return;
      }
      if (is_procedure(core::load<u16>(*record, 0).value_or(0)) && !read_procedure(*record))
        findings_.warning("pdb-procedures", pdb_.msf().offset_of(stream, position),
                          "a procedure ends before its name does");
      position += sizeof(u16) + record->size();
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
    if (const auto address = sections_.to_rva(section, offset); address && !name->empty())
      use_({*name, *address, size});
    return true;
  }

  const Pdb& pdb_;
  const PdbSections& sections_;
  const std::function<void(const Procedure&)>& use_;
  core::Findings& findings_;
};

}  // namespace

void read_procedures(const Pdb& pdb, const PdbSections& sections,
                     const std::function<void(const Procedure&)>& use, core::Findings& findings) {
  if (pdb.dbi() && pdb.dbi()->modules.size > 0)
    ProcedureReader{pdb, sections, use, findings}.read();
}

}  // namespace coldtrace::pe
