#include "coldtrace/pdb/isf_file.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/text.hpp"
#include "pe/isf/isf_records.hpp"

namespace coldtrace::pe {
namespace {

constexpr u64 most_u32 = ~u32{0};

bool is_known_format(std::string_view format) {
  return format.starts_with("6.");
}

bool is_usable_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_isf_name && name.find('\0') == name.npos;
}

// By their names as linkers have them, which public symbols of PDBs are called.
PublicSymbols to_publics(const IsfTable& table, core::Findings& findings) {
  std::vector<std::pair<std::string_view, u32>> found;
  u64 length = 0;
  for (const auto& symbol : table.symbols) {
    const auto name = symbol.linkage_name.empty() ? symbol.name : symbol.linkage_name;
    if (!is_usable_name(name)) {
      report_isf_entry(findings, {name}, "the symbol has no valid name");
    } else if (!symbol.address || symbol.address->negative || symbol.address->bits > most_u32) {
      report_isf_entry(findings, {name}, "the symbol has no address in an image");
    } else {
      found.emplace_back(name, static_cast<u32>(symbol.address->bits));
      length += name.size();
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second, a.first) < std::tie(b.second, b.first);
  });
  PublicSymbols publics;
  std::vector<std::byte> names;
  names.reserve(length);
  for (const auto& [name, address] : found) {
    const auto bytes = std::as_bytes(std::span{name});
    names.insert(names.end(), bytes.begin(), bytes.end());
  }
  publics.records = StreamBytes{std::move(names)};
  auto text = core::to_chars(publics.records.view());
  for (const auto& [name, address] : found) {
    publics.symbols.push_back({text.substr(0, name.size()), 0, 0, address, Rva{address}});
    text.remove_prefix(name.size());
  }
  return publics;
}

}  // namespace

std::optional<core::Guid> parse_plain_guid(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  std::string dashed{text};
  for (const auto at : {8U, 13U, 18U, 23U}) dashed.insert(at, 1, '-');
  return core::parse_guid(dashed);
}

std::string to_plain_text(const core::Guid& guid) {
  std::string plain;
  for (const char c : to_string(guid))
    if (c != '-') plain += core::to_upper(c);
  return plain;
}

core::Expected<PdbIdentity, IsfFailure> identify_isf(const IsfTable& table) {
  if (!is_known_format(table.format))
    return core::fail(IsfFailure{"it is JSON, but not a Volatility 3 symbol table of format 6"});
  if (table.guid.empty() && !table.age)
    return core::fail(
        IsfFailure{"a symbol table that does not say which Windows PDB it was made from "
                   "(metadata.windows.pdb)"});
  const auto guid = parse_plain_guid(table.guid);
  const auto age = table.age && !table.age->negative && table.age->bits <= most_u32
                       ? std::optional{static_cast<u32>(table.age->bits)}
                       : std::nullopt;
  if (!guid || !age)
    return core::fail(
        IsfFailure{"a symbol table whose GUID or age is invalid (metadata.windows.pdb)"});
  PdbIdentity identity{std::string{table.database}, *guid, *age, std::nullopt};
  if (table.machine && !table.machine->negative && table.machine->bits <= 0xffff)
    identity.machine = static_cast<u16>(table.machine->bits);
  return identity;
}

namespace {

// That pointers have another size than those of the machine that the table names.
void check_machine(const IsfTable& table, const PdbIdentity& identity, core::Findings& findings) {
  const auto of_machine = pointer_size_of(static_cast<Machine>(identity.machine.value_or(0)));
  const auto said = pointer_size_of(table);
  if (of_machine != 0 && said != 0 && of_machine != said)
    findings.warning("isf-machine", std::nullopt,
                     "the symbol table is for the machine {}, but has pointers of {} bytes",
                     to_string(static_cast<Machine>(*identity.machine)), said);
}

}  // namespace

core::Expected<SymbolFile, IsfFailure> to_symbol_file(const std::string& path,
                                                      const IsfTable& table) {
  auto identity = identify_isf(table);
  if (!identity) return core::fail(identity.error());
  SymbolFile file;
  file.path = path;
  file.identity = std::move(*identity);
  check_machine(table, file.identity, file.findings);
  file.publics = to_publics(table, file.findings);
  file.types.records = to_type_records(table, file.findings);
  file.types.pointer_size = pointer_size_of(table);
  return file;
}

core::Expected<TypeFile, IsfFailure> to_type_file(const std::string& path, const IsfTable& table) {
  auto identity = identify_isf(table);
  if (!identity) return core::fail(identity.error());
  TypeFile file;
  file.path = path;
  file.identity = std::move(*identity);
  check_machine(table, file.identity, file.findings);
  file.bytes = to_type_records(table, file.findings);
  file.table = TypeTable::of(file.bytes, pointer_size_of(table), file.findings);
  if (file.table.count() == 0)
    file.findings.info("pdb-no-types", std::nullopt, "the symbol table has no types");
  return file;
}

}  // namespace coldtrace::pe
