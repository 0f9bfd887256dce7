#include "coldtrace/pdb/pdb_procedures.hpp"

#include <map>
#include <utility>
#include <vector>

#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/pdb_modules.hpp"

namespace coldtrace::pe {
namespace {

constexpr u16 s_gproc32_st = 0x100b;
constexpr u16 s_lproc32_st = 0x100a;
constexpr u16 s_lproc32_16t = 0x0204;  // of Visual C++ 4, with the type in 16 bits behind the place
constexpr u16 s_gproc32_16t = 0x0205;

// MANPROCSYM: of methods of .NET, with a token of metadata in place of the type and a register in
// front of the name. Source: microsoft-pdb, cvinfo.h.
constexpr u16 s_gmanproc = 0x112a;
constexpr u16 s_lmanproc = 0x112b;

constexpr u16 s_lproc32_id = 0x1146;
constexpr u16 s_gproc32_id = 0x1147;
constexpr u16 s_lproc32_dpc_id = 0x1156;

bool is_procedure(u16 kind) {
  constexpr u16 s_lproc32 = 0x110f;
  constexpr u16 s_gproc32 = 0x1110;
  constexpr u16 s_lproc32_dpc = 0x1155;
  for (const auto known :
       {s_lproc32, s_gproc32, s_lproc32_id, s_gproc32_id, s_lproc32_dpc, s_lproc32_dpc_id,
        s_lproc32_st, s_gproc32_st, s_lproc32_16t, s_gproc32_16t, s_gmanproc, s_lmanproc})
    if (kind == known) return true;
  return false;
}

constexpr u16 s_sepcode = 0x1132;
constexpr u32 no_type = 0;

bool is_local(u16 kind) {
  constexpr u16 s_gproc32 = 0x1110;
  return kind != s_gproc32 && kind != s_gproc32_id && kind != s_gproc32_st &&
         kind != s_gproc32_16t && kind != s_gmanproc;
}

// Whether the type is named by a record of the IPI stream.
bool is_identified(u16 kind) {
  return kind == s_lproc32_id || kind == s_gproc32_id || kind == s_lproc32_dpc_id;
}

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
      : symbols_{pdb, findings},
        sections_{sections},
        use_{use},
        findings_{findings},
        room_of_parts_{pdb.msf().file_size()} {}

  void read() {
    while (symbols_.next_module()) {
      module_ = symbols_.module().name;
      functions_.clear();
      parts_.clear();
      for (core::ByteView record; symbols_.next(record);) {
        const auto kind = core::load<u16>(record, 0).value_or(0);
        if ((is_procedure(kind) && !read_procedure(record)) ||
            (kind == s_sepcode && !read_part(record)))
          symbols_.reject("a procedure ends before its name does");
      }
      use_parts();
    }
  }

 private:
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
            part.place.second, module_, no_type, false});
    }
  }

  bool read_procedure(core::ByteView record) {
    core::Reader in{record, "PROCSYM32", 0};
    const auto kind = in.read_u16("rectyp");
    in.skip(12, "pParent, pEnd, pNext");
    const auto size = in.read_u32("len");
    in.skip(8, "DbgStart and DbgEnd");
    const bool is_old = kind == s_lproc32_16t || kind == s_gproc32_16t;
    const bool is_managed = kind == s_gmanproc || kind == s_lmanproc;
    auto type = is_old ? no_type : in.read_u32("typind");
    if (is_managed) type = no_type;
    const auto offset = in.read_u32("off");
    const auto section = in.read_u16("seg");
    if (is_old) type = in.read_u16("typind");
    in.skip(is_managed ? 3 : 1, "flags and retReg");
    if (!in.ok()) return false;
    std::optional<std::string_view> name;
    if (is_old || kind == s_gproc32_st || kind == s_lproc32_st) {
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
      use_({*name, *address, size, which, section, offset, module_, type, is_identified(kind)});
    }
    return true;
  }

  ModuleSymbols symbols_;
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
  ProcedureReader{pdb, sections, use, findings}.read();
}

}  // namespace coldtrace::pe
