#include "syscall-map/context-switch/symbol_agreement.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "coldtrace/core/symbol_name.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/type_file.hpp"
#include "coldtrace/pdb/type_layers.hpp"
#include "coldtrace/pdb/type_members.hpp"
#include "syscall-map/code/kernel_code.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr std::size_t most_named = 4;  // of each kind in the finding

using Places = std::unordered_map<std::string_view, std::set<pe::Rva>>;

Places places_of(const pe::SymbolFile& file) {
  Places places;
  for (const auto& symbol : file.publics.symbols)
    if (symbol.address) places[core::undecorated(symbol.name)].insert(*symbol.address);
  return places;
}

bool meet(const std::set<pe::Rva>& a, const std::set<pe::Rva>& b) {
  return std::any_of(a.begin(), a.end(), [&](pe::Rva rva) { return b.contains(rva); });
}

// Where a member is, or the number of an enumerator.
struct Spot {
  u64 value = 0;
  std::optional<pe::BitField> bits;
};

// One file's types, as far as names lead to one thing.
class Types {
 public:
  explicit Types(pe::TypeTable table) : table_{std::move(table)}, budget_{table_} {
    for (const auto& type : table_.definitions()) {
      const auto [place, added] = definitions_.emplace(type.name, &type);
      if (!added) place->second = nullptr;
    }
  }

  const std::map<std::string_view, const pe::TypeTable::Definition*>& definitions() const {
    return definitions_;
  }

  // Null where the name is nobody's, or that of several.
  const pe::TypeTable::Definition* find(std::string_view name) const {
    const auto found = definitions_.find(name);
    return found == definitions_.end() ? nullptr : found->second;
  }

  std::optional<u64> size(const pe::TypeTable::Definition& type) const {
    return pe::size_of(table_, type.index);
  }

  std::map<std::string_view, Spot> spots(const pe::TypeTable::Definition& type) {
    std::map<std::string_view, Spot> spots;
    core::Findings ignored;  // told where the type is read for its own sake
    pe::visit_members(table_, type.index, {}, budget_, ignored, [&](const pe::TypeMember& member) {
      if (member.field.kind == pe::Field::Kind::enumerator)
        spots.try_emplace(member.field.name, Spot{member.field.value, std::nullopt});
      if (member.field.kind != pe::Field::Kind::member) return;
      const auto* const record = table_.find_record(table_.unmodified(member.field.type));
      spots.try_emplace(member.field.name,
                        Spot{member.offset, record ? pe::read_bit_field(*record) : std::nullopt});
    });
    return spots;
  }

 private:
  pe::TypeTable table_;
  pe::TypeBudget budget_;
  std::map<std::string_view, const pe::TypeTable::Definition*> definitions_;
};

bool same_bits(const std::optional<pe::BitField>& a, const std::optional<pe::BitField>& b) {
  return !a || !b || (a->position == b->position && a->length == b->length);
}

bool differ(Types& before, const pe::TypeTable::Definition& a, Types& after,
            const pe::TypeTable::Definition& b) {
  const auto size_a = before.size(a);
  const auto size_b = after.size(b);
  if (size_a && size_b && *size_a != *size_b) return true;
  const auto spots = before.spots(a);
  for (const auto& [name, spot] : after.spots(b)) {
    const auto other = spots.find(name);
    if (other == spots.end()) continue;
    if (other->second.value != spot.value || !same_bits(other->second.bits, spot.bits)) return true;
  }
  return false;
}

std::string first_of(const std::set<std::string, std::less<>>& names) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& name : names) {
    if (shown == most_named) break;
    text += fmt::format("{}{}", shown++ == 0 ? "" : ", ", core::to_valid_utf8(name));
  }
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// "2 symbols (a, b)"; nothing of none.
std::string counted(const std::set<std::string, std::less<>>& names, const char* one,
                    const char* several) {
  if (names.empty()) return {};
  return fmt::format("{} {} ({})", names.size(), names.size() == 1 ? one : several,
                     first_of(names));
}

class SymbolComparison {
 public:
  explicit SymbolComparison(std::span<const pe::SymbolFile* const> files) : files_{files} {
    for (const auto* const file : files_) {
      core::Findings ignored;
      places_.push_back(places_of(*file));
      auto table = pe::read_types(*file, ignored);
      types_.push_back(table ? std::make_unique<Types>(std::move(*table)) : nullptr);
    }
  }

  SymbolDisagreement compare(core::Findings& findings) {
    SymbolDisagreement all;
    for (std::size_t i = 0; i < files_.size(); ++i)
      for (std::size_t j = i + 1; j < files_.size(); ++j) {
        auto found = compare(i, j);
        if (found.symbols.empty() && found.types.empty()) continue;
        findings.warning("pdb-contradiction", std::nullopt,
                         "{} and {}, which the image asks for both, disagree: {}{}{}",
                         files_[i]->path, files_[j]->path,
                         counted(found.symbols, "symbol", "symbols"),
                         found.symbols.empty() || found.types.empty() ? "" : ", ",
                         counted(found.types, "type", "types"));
        all.symbols.merge(found.symbols);
        all.types.merge(found.types);
      }
    return all;
  }

 private:
  SymbolDisagreement compare(std::size_t i, std::size_t j) {
    SymbolDisagreement found;
    for (const auto& [name, places] : places_[i]) {
      const auto other = places_[j].find(name);
      if (other != places_[j].end() && !meet(places, other->second)) found.symbols.emplace(name);
    }
    if (!types_[i] || !types_[j]) return found;
    for (const auto& [name, type] : types_[i]->definitions()) {
      const auto* const other = types_[j]->find(name);
      if (type && other && differ(*types_[i], *type, *types_[j], *other)) found.types.emplace(name);
    }
    return found;
  }

  std::span<const pe::SymbolFile* const> files_;
  std::vector<Places> places_;
  std::vector<std::unique_ptr<Types>> types_;
};

}  // namespace

SymbolDisagreement compare_symbol_files(std::span<const pe::SymbolFile* const> files,
                                        core::Findings& findings) {
  if (files.size() < 2) return {};
  return SymbolComparison{files}.compare(findings);
}

}  // namespace coldtrace::syscall_map
