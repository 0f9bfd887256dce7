#include "coldtrace/pdb/code_symbols.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pdb/pdb_procedures.hpp"
#include "coldtrace/pe/exception_directory.hpp"
#include "coldtrace/pe/found_directories.hpp"

namespace coldtrace::pe {
namespace {

// The last of those that begin at the address or before it.
template <class T, class Start>
const T* find_last(const std::vector<T>& all, u32 address, Start start) {
  const auto after =
      std::upper_bound(all.begin(), all.end(), address,
                       [&](u32 wanted, const T& element) { return wanted < start(element); });
  return after == all.begin() ? nullptr : &*(after - 1);
}

u32 start_of_extent(const auto& extent) {
  return extent.start;
}

}  // namespace

CodeSymbols::CodeSymbols(const ImageTables* tables, const SymbolFile* pdb,
                         core::Findings& findings) {
  if (tables != nullptr)
    add_sections(tables->image().sections());
  else if (pdb != nullptr && !pdb->sections.has_omap())  // else they are where the code was before
    add_sections(pdb->sections.headers());
  if (tables != nullptr) {
    add_exports(*tables, findings);
    add_functions(tables->image(), findings);
  }
  if (pdb != nullptr) {
    add_publics(*pdb, findings);
    if (pdb->pdb) add_procedures(*pdb, findings);
    if (pdb->file) core::note_unreadable(*pdb->file, findings);
  }
  sort();
}

void CodeSymbols::add_sections(std::span<const SectionHeader> sections) {
  for (const auto& section : sections) {
    const auto size = section.virtual_size != 0 ? section.virtual_size : section.raw_size;
    if (section.executable())
      sections_.push_back({value(section.address), value(section.address + size)});
  }
  std::sort(sections_.begin(), sections_.end(),
            [](const Extent& a, const Extent& b) { return a.start < b.start; });
}

void CodeSymbols::add_exports(const ImageTables& tables, core::Findings& findings) {
  const auto& exports = tables.exports();
  findings.merge(exports.findings);
  // Names of a sound table do not overlap.
  u64 room = tables.image().file().size();
  for (const auto& one : exports.directory.exports) {
    if (one.is_forwarder) continue;
    const auto name = one.name.empty() ? fmt::format("#{}", one.ordinal) : std::string{one.name};
    if (name.size() > room) {
      findings.warning("symbol-limit", std::nullopt,
                       "the names of exports are longer than the file; others are left out");
      return;
    }
    room -= name.size();
    if (name.size() > longest_name)
      findings.warning("symbol-limit", std::nullopt,
                       "the name of an export has {} bytes, cut to {}", name.size(), longest_name);
    add(one.address, name, Origin::exported);
  }
}

void CodeSymbols::add_publics(const SymbolFile& pdb, core::Findings& findings) {
  constexpr u32 of_code = public_code | public_function;
  const bool by_section = !sections_.empty();
  if (!pdb.pdb && !by_section)
    findings.warning("isf-no-sections", std::nullopt,
                     "{}: a symbol table does not distinguish code from data; it names code only "
                     "if the image is given too",
                     pdb.path);
  for (const auto& symbol : pdb.publics.symbols)
    if (symbol.address && !symbol.name.empty() && (by_section || (symbol.flags & of_code) != 0))
      add(*symbol.address, symbol.name, Origin::public_symbol);
}

void CodeSymbols::add_procedures(const SymbolFile& pdb, core::Findings& findings) {
  read_procedures(
      *pdb.pdb, pdb.sections,
      [this](const Procedure& procedure) {
        // A part has no name of its own to be found by.
        if (procedure.kind == Procedure::Kind::cold_part) return;
        const auto start = value(procedure.address);
        if (add(procedure.address, procedure.name, Origin::procedure) &&
            procedure.size <= ~u32{0} - start)
          procedures_.push_back({start, start + procedure.size});
      },
      findings);
}

// A function may have several entries, each one a piece of it.
void CodeSymbols::add_functions(const Image& image, core::Findings& findings) {
  for (const auto& range : read_function_ranges(image, findings)) {
    const auto start = value(range.start);
    const auto end = value(range.end);
    if (!functions_.empty() && functions_.back().end == start && is_fragment(image, range))
      functions_.back().end = end;
    else
      functions_.push_back({start, end});
  }
}

// Whether there is code at the address.
bool CodeSymbols::add(Rva address, std::string_view name, Origin origin) {
  const auto* const section = find_last(sections_, value(address), start_of_extent<Extent>);
  if (!sections_.empty() && (section == nullptr || value(address) >= section->end)) return false;
  const auto text = core::to_valid_utf8(name.substr(0, longest_name));
  entries_.push_back({value(address), static_cast<u32>(text.size()), names_.size(), origin});
  names_ += text;
  return true;
}

void CodeSymbols::sort() {
  const auto order = [this](const Entry& entry) {
    return std::tuple{entry.address, entry.origin, name_of(entry)};
  };
  std::sort(entries_.begin(), entries_.end(),
            [&](const Entry& a, const Entry& b) { return order(a) < order(b); });
  const auto end =
      std::unique(entries_.begin(), entries_.end(),
                  [](const Entry& a, const Entry& b) { return a.address == b.address; });
  entries_.erase(end, entries_.end());
  sort_procedures();
}

// Of those at one address, which a linker has found to be alike, the longest.
void CodeSymbols::sort_procedures() {
  std::sort(procedures_.begin(), procedures_.end(), [](const Extent& a, const Extent& b) {
    return std::tuple{a.start, b.end} < std::tuple{b.start, a.end};
  });
  const auto end = std::unique(procedures_.begin(), procedures_.end(),
                               [](const Extent& a, const Extent& b) { return a.start == b.start; });
  procedures_.erase(end, procedures_.end());
}

std::optional<CodeSymbols::Place> CodeSymbols::find(Rva rva) const {
  const auto address = value(rva);
  const auto* const entry =
      find_last(entries_, address, [](const Entry& one) { return one.address; });
  if (entry == nullptr || address - entry->address > farthest) return std::nullopt;
  if (!sections_.empty()) {
    const auto* const section = find_last(sections_, address, start_of_extent<Extent>);
    if (section == nullptr || address >= section->end || entry->address < section->start)
      return std::nullopt;
  }
  if (const auto* const procedure = find_last(procedures_, address, start_of_extent<Extent>);
      procedure != nullptr && address >= procedure->end && entry->address < procedure->end)
    return std::nullopt;
  // Code without an entry is that of leaf functions.
  if (const auto* const function = find_last(functions_, address, start_of_extent<Extent>)) {
    const auto least = address < function->end ? function->start : function->end;
    if (entry->address < least) return std::nullopt;
  }
  return Place{static_cast<std::size_t>(entry - entries_.data()), address - entry->address};
}

CodeSymbols::Symbol CodeSymbols::symbol(std::size_t number) const {
  const auto& entry = entries_[number];
  return {name_of(entry), Rva{entry.address},
          entry.origin == Origin::exported ? SymbolSource::exports : SymbolSource::pdb};
}

}  // namespace coldtrace::pe
