#include "cli/pe/symbol_rows.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/pdb/pdb_procedures.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::string_view public_kind = "public";

std::string_view word_of(pe::Procedure::Kind kind) {
  switch (kind) {
    case pe::Procedure::Kind::global:
      return "procedure";
    case pe::Procedure::Kind::local:
      return "local_procedure";
    case pe::Procedure::Kind::cold_part:
      break;
  }
  return "cold_part";
}

// By address; those without one behind, in the order they had.
bool comes_before(const SymbolRow& a, const SymbolRow& b) {
  if (a.address.has_value() != b.address.has_value()) return a.address.has_value();
  return a.address && value(*a.address) < value(*b.address);
}

void keep_named(std::vector<SymbolRow>& rows, std::span<const std::string> names,
                core::Findings& findings) {
  core::NoMatch missing;
  std::vector<bool> chosen(rows.size());
  for (const auto& name : names) {
    const bool glob = is_glob(name);
    bool found = false;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (glob ? glob_matches(name, rows[i].name, GlobCase::sensitive) : rows[i].name == name)
        chosen[i] = found = true;
    if (found) continue;
    std::vector<std::string_view> known;
    for (const auto& row : rows) known.push_back(row.name);
    missing.add("symbol", name, known);
  }
  missing.report(findings);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!chosen[i]) continue;
    if (kept != i) rows[kept] = std::move(rows[i]);
    ++kept;
  }
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end());
}

}  // namespace

std::vector<SymbolRow> choose_symbols(const pe::SymbolFile& file,
                                      std::span<const std::string> kinds,
                                      std::span<const std::string> names,
                                      core::Findings& findings) {
  const auto wanted = [&](std::string_view kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  const auto is_private = [](const std::string& kind) { return kind != public_kind; };
  const auto asked = std::find_if(kinds.begin(), kinds.end(), is_private);
  std::vector<SymbolRow> rows;
  if (wanted(public_kind))
    for (const auto& symbol : file.publics.symbols)
      rows.push_back({public_kind,
                      std::string{symbol.name},
                      symbol.address,
                      symbol.section,
                      symbol.offset,
                      symbol.flags,
                      std::nullopt,
                      {}});
  if (file.pdb && asked != kinds.end())
    pe::read_procedures(
        *file.pdb, file.sections,
        [&](const pe::Procedure& one) {
          if (wanted(word_of(one.kind)))
            rows.push_back({word_of(one.kind), std::string{one.name}, one.address, one.section,
                            one.offset, 0, one.size, std::string{one.module}});
        },
        findings);
  if (asked != kinds.end() && (!file.pdb || rows.empty())) {
    core::NoMatch missing;
    missing.add_sentence(
        file.pdb ? fmt::format("no symbols of --kind {}", fmt::join(kinds, ","))
                 : fmt::format("--kind {}: symbol tables have public symbols alone", *asked));
    missing.report(findings);
  }
  std::stable_sort(rows.begin(), rows.end(), comes_before);
  if (!names.empty()) keep_named(rows, names, findings);
  return rows;
}

}  // namespace coldtrace::cli
