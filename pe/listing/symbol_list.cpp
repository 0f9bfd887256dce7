#include "coldtrace/pdb/symbol_list.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "coldtrace/pdb/data_symbols.hpp"
#include "coldtrace/pdb/id_table.hpp"
#include "coldtrace/pdb/pdb_annotations.hpp"
#include "coldtrace/pdb/pdb_modules.hpp"
#include "coldtrace/pdb/pdb_procedures.hpp"
#include "coldtrace/pdb/section_contributions.hpp"
#include "coldtrace/pdb/simple_types.hpp"
#include "coldtrace/pdb/type_file.hpp"
#include "coldtrace/pdb/type_layers.hpp"
#include "pe/listing/named_entries.hpp"
#include "pe/listing/text_room.hpp"
#include "pe/pdb/type_servers.hpp"

namespace coldtrace::pe {
namespace {

constexpr std::string_view public_kind = "public";
constexpr std::string_view annotation_kind = "annotation";

std::string_view word_of(Procedure::Kind kind) {
  switch (kind) {
    case Procedure::Kind::global:
      return "procedure";
    case Procedure::Kind::local:
      return "local_procedure";
    case Procedure::Kind::cold_part:
      break;
  }
  return "cold_part";
}

std::string_view word_of(DataSymbol::Kind kind) {
  switch (kind) {
    case DataSymbol::Kind::global:
      return "global";
    case DataSymbol::Kind::local:
      return "data";
    case DataSymbol::Kind::constant:
      return "constant";
    case DataSymbol::Kind::user_type:
      break;
  }
  return "udt";
}

// By address; those without one behind, in the order they had.
bool comes_before(const ListedSymbol& a, const ListedSymbol& b) {
  if (a.address.has_value() != b.address.has_value()) return a.address.has_value();
  return a.address && value(*a.address) < value(*b.address);
}

// Adds the symbols of each kind that is wanted.
class Lister {
 public:
  Lister(const SymbolFile& file, std::span<const std::string> kinds, core::Findings& findings)
      : file_{file}, kinds_{kinds}, findings_{findings}, room_{file} {
    if (!file.pdb) return;
    look([&](core::Findings& own) { modules_ = read_modules(*file_.pdb, own); });
    contributions_ = SectionContributions::read(*file.pdb, findings);
  }

  std::vector<ListedSymbol> list() {
    if (wants({public_kind})) add_publics();
    if (file_.pdb) {
      if (wants({"procedure", "local_procedure", "global", "data", "constant", "udt"}))
        open_types();
      if (wants({"procedure", "local_procedure", "cold_part"})) add_procedures();
      if (wants({"global", "data", "constant", "udt"})) add_data();
      if (wants({annotation_kind})) add_annotations();
    }
    room_.report(findings_);
    std::stable_sort(symbols_.begin(), symbols_.end(), comes_before);
    return std::move(symbols_);
  }

 private:
  bool wants(std::initializer_list<std::string_view> words) const {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
      return std::find(kinds_.begin(), kinds_.end(), word) != kinds_.end();
    });
  }

  // Several looks at the modules tell of the same damage.
  void look(const std::function<void(core::Findings&)>& read) {
    core::Findings own;
    read(own);
    findings_.merge_unknown(own);
  }

  void open_types() {
    constexpr u32 type_stream = 2;
    if (file_.pdb->msf().stream_size(type_stream).value_or(0) == 0) return;
    auto types = read_types(file_, findings_);
    if (types)
      types_ = std::move(*types);
    else
      findings_.warning("pdb-types", types.error());
  }

  ListedSymbol& add(std::string_view kind, std::string_view name, std::string_view module) {
    auto& symbol = symbols_.emplace_back();
    symbol.kind = kind;
    symbol.name = name;
    symbol.module = room_.take(module);
    return symbol;
  }

  // Of the module that gave the bytes there to the image.
  std::string_view module_at(u16 section, u32 offset) const {
    const auto number = contributions_.find_module(section, offset);
    return number && *number < modules_.size() ? modules_[*number].name : std::string_view{};
  }

  void add_publics() {
    for (const auto& known : file_.publics.symbols) {
      auto& symbol = add(public_kind, known.name, module_at(known.section, known.offset));
      symbol.address = known.address;
      if (!file_.pdb) continue;  // symbol tables of Volatility do not say the rest
      symbol.section = known.section;
      symbol.offset = known.offset;
      symbol.flags = known.flags;
    }
  }

  void add_procedures() {
    const auto use = [&](const Procedure& one) {
      if (!wants({word_of(one.kind)})) return;
      auto& symbol = add(word_of(one.kind), one.name, one.module);
      symbol.address = one.address;
      symbol.section = one.section;
      symbol.offset = one.offset;
      symbol.size = one.size;
      const auto type = one.by_identifier ? identified_type(one.type) : one.type;
      if (type != 0) add_type(symbol, type);
    };
    look([&](core::Findings& own) { read_procedures(*file_.pdb, file_.sections, use, own); });
  }

  // Of what no linker has finished; 0 where it is not known.
  u32 identified_type(u32 identifier) {
    if (!ids_) ids_ = IdTable::read(*file_.pdb, findings_);
    const auto function = ids_->find_function(identifier);
    return function ? function->type : 0;
  }

  void add_data() {
    const auto use = [&](const DataSymbol& one) {
      if (!wants({word_of(one.kind)})) return;
      const auto module = one.module.empty() && one.place
                              ? module_at(one.place->section, one.place->offset)
                              : one.module;
      auto& symbol = add(word_of(one.kind), one.name, module);
      if (one.place) {
        symbol.address = one.place->address;
        symbol.section = one.place->section;
        symbol.offset = one.place->offset;
        if (is_known(one.type)) symbol.size = size_of(types_, one.type);
        symbol.thread_local_ = one.thread_local_;
      }
      if (one.value) symbol.value = constant_of(one.type, *one.value);
      if (one.type != 0) add_type(symbol, one.type);
    };
    look([&](core::Findings& own) { read_data_symbols(*file_.pdb, file_.sections, use, own); });
  }

  void add_annotations() {
    const auto use = [&](const Annotation& one) {
      auto& symbol = add(annotation_kind, one.texts.front(), one.module);
      symbol.address = file_.sections.to_rva(one.section, one.offset);
      symbol.section = one.section;
      symbol.offset = one.offset;
      symbol.texts.assign(one.texts.begin(), one.texts.end());
    };
    look([&](core::Findings& own) { visit_annotations(*file_.pdb, own, use); });
  }

  // Whether the file has the record of the type.
  [[nodiscard]] bool is_known(u32 type) const {
    return type < first_record_index || !file_.pdb->dbi() || !file_.pdb->dbi()->has_type_servers();
  }

  void add_type(ListedSymbol& symbol, u32 type) {
    symbol.type = type;
    if (!is_known(type)) {
      if (!type_servers_) type_servers_ = describe_type_servers(*file_.pdb, findings_);
      findings_.info("pdb-types-elsewhere", std::nullopt,
                     "types of modules are in PDBs of the compiler; symbols have their indexes{}{}",
                     type_servers_->empty() ? "" : ": ", *type_servers_);
      return;
    }
    const auto [text, added] = type_texts_.try_emplace(type);
    if (added) text->second = to_text(types_, type);
    symbol.type_text = room_.take(text->second);
  }

  // Enumerations are the integers below them; what is not an integer has no number.
  std::optional<ConstantValue> constant_of(u32 type, u64 stored) {
    if (!is_known(type)) return ConstantValue{stored, static_cast<i64>(stored) < 0};
    auto integer = types_.unmodified(type);
    core::Findings ignored;  // of several enumerations of the name the first counts
    if (const auto found = types_.find_definition(integer, ignored))
      if (const auto enumeration = read_enumeration(*types_.find_record(*found)))
        integer = enumeration->underlying;
    const auto* const simple = find_simple_type(integer);
    if (simple && simple->kind == SimpleType::Kind::floating) return std::nullopt;
    const auto bits = to_integer(stored, simple);
    return ConstantValue{bits, (!simple || simple->is_signed) && static_cast<i64>(bits) < 0};
  }

  const SymbolFile& file_;
  std::span<const std::string> kinds_;
  core::Findings& findings_;
  TextRoom room_;
  std::vector<PdbModule> modules_;
  SectionContributions contributions_;
  TypeTable types_;
  std::optional<IdTable> ids_;
  std::map<u32, std::string> type_texts_;
  std::optional<std::string> type_servers_;  // described when a type is elsewhere
  std::vector<ListedSymbol> symbols_;
};

}  // namespace

std::string ConstantValue::text() const {
  return is_negative ? fmt::format("{}", static_cast<i64>(bits)) : fmt::format("{}", bits);
}

std::vector<ListedSymbol> list_symbols(const SymbolFile& file, std::span<const std::string> kinds,
                                       std::span<const std::string> names,
                                       core::Findings& findings) {
  auto symbols = Lister{file, kinds, findings}.list();
  const auto is_private = [](const std::string& kind) { return kind != public_kind; };
  const auto asked = std::find_if(kinds.begin(), kinds.end(), is_private);
  if (asked != kinds.end() && (!file.pdb || symbols.empty())) {
    core::NoMatch missing;
    missing.add_sentence(file.pdb
                             ? fmt::format("no symbols of the kinds {}", fmt::join(kinds, ","))
                             : fmt::format("{}: symbol tables have only public symbols", *asked));
    missing.report(findings);
  }
  keep_named(symbols, "symbol", names, findings);
  return symbols;
}

}  // namespace coldtrace::pe
