#include "coldtrace/pdb/isf_names.hpp"

#include <fmt/format.h>

#include "coldtrace/core/symbol_name.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
IsfBase isf_base_of(const SimpleType& type) {
  using Kind = SimpleType::Kind;
  IsfBase base{type.volatility, "int", type.size, type.is_signed};
  // pdbconv.py has these otherwise than their names say.
  constexpr u8 hresult = 0x08;
  constexpr u8 wide_character = 0x71;
  if (type.code == hresult) base.is_signed = false;
  if (type.code == wide_character) base.is_signed = true;
  if (type.kind == Kind::void_) {
    base.kind = "void";
    base.is_signed = true;
  } else if (type.kind == Kind::floating) {
    base.kind = "float";
  } else if (type.kind == Kind::boolean) {
    base.kind = "bool";
  } else if (base.name == "char" || base.name == "unsigned char") {
    base.kind = "char";
  }
  return base;
}

namespace {

// As Volatility's pdbconv has it: names such as "<unnamed-enum-First>" tell types apart.
bool is_renamed(std::string_view name) {
  return is_unnamed(name) && !(name.ends_with('>') && !name.ends_with("-tag>"));
}

}  // namespace

IsfNames::IsfNames(core::Borrowed<TypeTable> table) : table_{table.get()} {
  std::set<std::string> structures;
  std::set<std::string> enumerations;
  for (const auto& type : table_.definitions()) {
    auto& taken = type.family == TypeTable::Family::enumeration ? enumerations : structures;
    auto name = core::to_valid_utf8(type.name);
    if (is_renamed(type.name)) {
      const bool anonymous = name.find("anonymous") != std::string::npos;
      name = fmt::format("__{}_{:x}", anonymous ? "anonymous" : "unnamed", type.index);
    } else if (!taken.contains(name)) {
      taken.insert(std::move(name));
      continue;
    } else {
      name += fmt::format("_{:x}", type.index);
      ++renamed_;
    }
    while (!taken.insert(name).second) name += '_';
    names_.emplace(type.index, std::move(name));
  }
}

std::string IsfNames::name_of(u32 index) const {
  if (const auto known = names_.find(index); known != names_.end()) return known->second;
  const auto* const record = table_.find_record(index);
  const auto head = record ? read_type_head(*record) : std::nullopt;
  return head ? core::to_valid_utf8(head->name) : std::string{};
}

std::vector<IsfSymbol> isf_symbols(std::span<const PublicSymbol> publics,
                                   core::Findings& findings) {
  std::map<std::string, IsfSymbol> symbols;
  u64 twice = 0;
  const auto add = [&](std::string_view name, const PublicSymbol& symbol) {
    auto text = core::to_valid_utf8(name);
    const auto linkage = name == symbol.name ? std::string_view{} : symbol.name;
    return symbols.try_emplace(text, IsfSymbol{text, value(*symbol.address), linkage}).second;
  };
  // First the names that are exact.
  for (const auto& symbol : publics)
    if (symbol.address && !symbol.name.empty() && core::undecorated(symbol.name) == symbol.name &&
        !add(symbol.name, symbol))
      ++twice;
  for (const auto& symbol : publics) {
    const auto plain = core::undecorated(symbol.name);
    if (!symbol.address || plain == symbol.name) continue;
    if (!add(plain, symbol) && !add(symbol.name, symbol)) ++twice;
  }
  if (twice > 0)
    findings.info("isf-symbol-twice", std::nullopt, "{} left out",
                  core::counted(twice, "public symbol has the name of another one and is",
                                "public symbols have the name of another one and are"));
  std::vector<IsfSymbol> sorted;
  sorted.reserve(symbols.size());
  for (auto& [name, symbol] : symbols) sorted.push_back(std::move(symbol));
  return sorted;
}

}  // namespace coldtrace::pe
