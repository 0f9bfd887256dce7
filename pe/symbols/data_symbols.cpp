#include "coldtrace/pdb/data_symbols.hpp"

#include <array>
#include <set>
#include <string>
#include <tuple>

#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/pdb_modules.hpp"
#include "pe/pdb/symbol_record.hpp"
#include "pe/types/leaf_reader.hpp"

namespace coldtrace::pe {
namespace {

using Kind = DataSymbol::Kind;

struct Form {
  u16 code;
  Kind kind;
  bool thread_local_;
  bool has_length;      // of the name, instead of a NUL
  bool is_old = false;  // of Visual C++ 4: the type in 16 bits, behind the place
};

constexpr std::array forms = {
    Form{0x0003, Kind::constant, false, true, true},
    Form{0x0004, Kind::user_type, false, true, true},
    Form{0x0201, Kind::local, false, true, true},
    Form{0x0202, Kind::global, false, true, true},
    Form{0x020d, Kind::local, true, true, true},
    Form{0x020e, Kind::global, true, true, true},
    Form{0x1002, Kind::constant, false, true},
    Form{0x1003, Kind::user_type, false, true},
    Form{0x1007, Kind::local, false, true},
    Form{0x1008, Kind::global, false, true},
    Form{0x100e, Kind::local, true, true},
    Form{0x100f, Kind::global, true, true},
    Form{0x1107, Kind::constant, false, false},
    Form{0x1108, Kind::user_type, false, false},
    Form{0x110c, Kind::local, false, false},
    Form{0x110d, Kind::global, false, false},
    Form{0x1112, Kind::local, true, false},
    Form{0x1113, Kind::global, true, false},
};

const Form* find_form(core::ByteView record) {
  const auto kind = core::load<u16>(record, 0);
  for (const auto& form : forms)
    if (form.code == kind) return &form;
  return nullptr;
}

// Bytes behind the leaf of a number that is not an integer; 0: another leaf.
u64 size_of_real(u16 leaf) {
  switch (leaf) {
    case 0x8005:  // LF_REAL32
      return 4;
    case 0x8006:  // LF_REAL64
      return 8;
    case 0x8007:  // LF_REAL80
      return 10;
    case 0x8008:  // LF_REAL128
    case 0x8017:  // LF_OCTWORD
    case 0x8018:  // LF_UOCTWORD
      return 16;
    case 0x800b:  // LF_REAL48
      return 6;
    case 0x801c:  // LF_REAL16
      return 2;
    default:
      return 0;
  }
}

std::optional<u64> read_value(core::Reader& in, core::ByteView record) {
  const auto leaf = core::load<u16>(record, in.consumed()).value_or(0);
  const auto size = size_of_real(leaf);
  if (size == 0) return read_number(in);
  in.skip(sizeof leaf + size, "value");
  return std::nullopt;
}

std::optional<DataSymbol> read_symbol(core::ByteView record, const Form& form,
                                      const PdbSections& sections) {
  core::Reader in{record, "data symbol", 0};
  in.skip(2, "rectyp");
  const auto read_type = [&]() -> u32 {
    return form.is_old ? in.read_u16("typind") : in.read_u32("typind");
  };
  const bool has_place = form.kind != Kind::constant && form.kind != Kind::user_type;
  const bool type_is_last = form.is_old && has_place;
  DataSymbol symbol{form.kind, {}, type_is_last ? 0 : read_type(), form.thread_local_, {}, {}, {}};
  if (form.kind == Kind::constant) {
    symbol.value = read_value(in, record);
  } else if (has_place) {
    const auto offset = in.read_u32("off");
    const auto section = in.read_u16("seg");
    if (type_is_last) symbol.type = read_type();
    symbol.place = {section, offset, sections.to_rva(section, offset)};
  }
  if (form.has_length) {
    symbol.name = core::to_chars(in.take(in.read_u8("name length"), "name"));
  } else if (in.ok()) {
    const auto name = core::read_c_string(record.subspan(in.consumed()), record.size());
    if (!name) return std::nullopt;
    symbol.name = *name;
  }
  if (!in.ok()) return std::nullopt;
  return symbol;
}

class DataReader {
 public:
  DataReader(const Pdb& pdb, const PdbSections& sections,
             const std::function<void(const DataSymbol&)>& use, core::Findings& findings)
      : pdb_{pdb}, sections_{sections}, use_{use}, findings_{findings} {}

  void read_program() {
    const auto stream = pdb_.dbi() ? pdb_.dbi()->symbol_records : std::nullopt;
    const auto bytes = stream ? pdb_.msf().read(*stream, "PDB symbol records")
                              : core::Result<StreamBytes>{StreamBytes{}};
    if (!bytes) return findings_.warning("pdb-data", bytes.error());
    const auto records = bytes->view();
    for (u64 position = 0; position < records.size();) {
      const auto record = find_symbol(records, position);
      if (!record)
        return findings_.warning("pdb-data", pdb_.msf().offset_of(*stream, position),
                                 "the symbol records end inside one, at {:#x} of {:#x}", position,
                                 records.size());
      if (!take(record->bytes, nullptr))
        findings_.warning("pdb-data", pdb_.msf().offset_of(*stream, position),
                          "a symbol ends before its name does");
      position = record->end;
    }
  }

  // Linkers write what no other module sees to both.
  void read_modules() {
    ModuleSymbols symbols{pdb_, findings_};
    while (symbols.next_module())
      for (core::ByteView record; symbols.next(record);)
        if (!take(record, &symbols.module())) symbols.reject("a symbol ends before its name does");
  }

 private:
  // What makes two symbols the same one.
  using Key = std::tuple<Kind, u32, u16, u32, u64, std::string>;

  bool take(core::ByteView record, const PdbModule* module) {
    const auto* const form = find_form(record);
    if (!form) return true;
    auto symbol = read_symbol(record, *form, sections_);
    if (!symbol) return false;
    if (module) symbol->module = module->name;
    const auto place = symbol->place.value_or(DataSymbol::Place{});
    Key key{symbol->kind,
            symbol->type,
            place.section,
            place.offset,
            symbol->value.value_or(0),
            std::string{symbol->name}};
    if (!module)
      known_.insert(std::move(key));
    else if (known_.contains(key))
      return true;
    use_(*symbol);
    return true;
  }

  const Pdb& pdb_;
  const PdbSections& sections_;
  const std::function<void(const DataSymbol&)>& use_;
  core::Findings& findings_;
  std::set<Key> known_;  // of the whole program
};

}  // namespace

void read_data_symbols(const Pdb& pdb, const PdbSections& sections,
                       const std::function<void(const DataSymbol&)>& use,
                       core::Findings& findings) {
  DataReader reader{pdb, sections, use, findings};
  reader.read_program();
  reader.read_modules();
}

}  // namespace coldtrace::pe
