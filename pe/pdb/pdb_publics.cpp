#include "coldtrace/pdb/pdb_publics.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "coldtrace/core/sorting.hpp"
#include "coldtrace/core/text.hpp"
#include "pe/pdb/symbol_record.hpp"

namespace coldtrace::pe {
namespace {

constexpr u16 s_pub32 = 0x110e;
constexpr u16 s_pub32_st = 0x1009;
constexpr u16 s_pub32_16t = 0x0203;  // of Visual C++ 4, with a type of 16 bits behind its place
constexpr u64 smallest_record = 12;

bool is_public(u16 kind) {
  return kind == s_pub32 || kind == s_pub32_st || kind == s_pub32_16t;
}

// Positions of the records in their stream, ascending.
using Positions = std::vector<u32>;

// The address map behind the hash table: u32 positions, by address.
core::Result<Positions> read_address_map(const Msf& msf, u32 stream, u64 records_size) {
  constexpr u64 size_on_disk = 28;
  const auto bytes = COLDTRACE_TRY(msf.read(stream, 0, size_on_disk, "PDB publics stream"));
  core::Reader in{bytes.view(), "PDB publics stream", 0};
  const u64 hash_size = in.read_u32("SymHash");
  const auto map_at = in.offset();
  const u64 map_size = in.read_u32("AddrMap");
  if (map_size % 4 != 0 || map_size / 4 > records_size / smallest_record)
    in.reject(core::Fault::bad_value, map_at, "AddrMap", records_size / smallest_record * 4,
              map_size);
  if (!in.ok()) return core::fail(msf.placed(in.error(), stream));
  const auto map =
      COLDTRACE_TRY(msf.read(stream, size_on_disk + hash_size, map_size, "PDB publics stream"));
  Positions positions(map_size / 4);
  for (u64 i = 0; i < positions.size(); ++i)
    positions[i] = core::load<u32>(map.view(), i * 4).value_or(0);
  std::sort(positions.begin(), positions.end());
  return positions;
}

class PublicReader {
 public:
  PublicReader(const Msf& msf, u32 stream, core::ByteView records, const PdbSections& sections,
               core::Findings& findings)
      : msf_{msf}, stream_{stream}, records_{records}, sections_{sections}, findings_{findings} {}

  // No record is looked at twice, and none reaches into the next, so that the work is bounded by
  // the size of the stream.
  std::vector<PublicSymbol> read(const Positions& positions) {
    std::vector<PublicSymbol> symbols;
    symbols.reserve(positions.size());
    u64 end = 0;
    for (const u32 position : positions) {
      const auto record = position < end ? std::nullopt : find_symbol(records_, position);
      auto symbol = record ? decode(record->bytes) : std::nullopt;
      if (!symbol) {
        findings_.warning("pdb-public", msf_.offset_of(stream_, position),
                          "no public symbol can be read at {:#x} of the symbol records", position);
        continue;
      }
      end = record->end;
      locate(*symbol, position);
      symbols.push_back(*symbol);
    }
    return symbols;
  }

  // The positions of all that are public symbols by their kind.
  Positions find_all() {
    Positions positions;
    u64 position = 0;
    while (position < records_.size()) {
      const auto record = find_symbol(records_, position);
      if (!record) {
        findings_.warning("pdb-public", msf_.offset_of(stream_, position),
                          "the symbol records end inside one, at {:#x} of {:#x}", position,
                          records_.size());
        break;
      }
      if (is_public(core::load<u16>(record->bytes, 0).value_or(0)))
        positions.push_back(static_cast<u32>(position));
      position = record->end;
    }
    return positions;
  }

 private:
  static std::optional<PublicSymbol> decode(core::ByteView record) {
    core::Reader in{record, "PUBSYM32", 0};
    const auto kind = in.read_u16("rectyp");
    PublicSymbol symbol{};
    if (!is_public(kind)) return std::nullopt;
    if (kind != s_pub32_16t) symbol.flags = in.read_u32("pubsymflags");
    symbol.offset = in.read_u32("off");
    symbol.section = in.read_u16("seg");
    if (kind == s_pub32_16t) in.skip(2, "typind");
    if (!in.ok()) return std::nullopt;
    if (kind == s_pub32) {
      const auto name = core::read_c_string(record.subspan(in.consumed()), record.size());
      if (!name) return std::nullopt;
      symbol.name = *name;
    } else {
      const auto length = in.read_u8("name length");
      symbol.name = core::to_chars(in.take(length, "name"));
      if (!in.ok()) return std::nullopt;
    }
    return symbol;
  }

  void locate(PublicSymbol& symbol, u32 position) {
    symbol.address = sections_.to_rva(symbol.section, symbol.offset);
    if (!symbol.address && !sections_.has_omap() && !sections_.headers().empty() &&
        !sections_.is_absolute(symbol.section))
      findings_.warning("pdb-address", msf_.offset_of(stream_, position),
                        "a symbol is at {:#x} of section {}, which is outside it", symbol.offset,
                        symbol.section);
  }

  const Msf& msf_;
  u32 stream_;
  core::ByteView records_;
  const PdbSections& sections_;
  core::Findings& findings_;
};

auto order(const PublicSymbol& symbol) {
  const u64 address = symbol.address ? value(*symbol.address) : std::numeric_limits<u64>::max();
  return std::tuple{address, symbol.section, symbol.offset, symbol.name};
}

void sort_by_address(std::vector<PublicSymbol>& symbols) {
  core::stable_sort_if_needed(
      symbols, [](const PublicSymbol& a, const PublicSymbol& b) { return order(a) < order(b); });
}

}  // namespace

PublicSymbols read_public_symbols(const Pdb& pdb, const PdbSections& sections,
                                  core::Findings& findings) {
  PublicSymbols publics;
  if (!pdb.dbi() || !pdb.dbi()->symbol_records) {
    findings.warning("pdb-publics", std::nullopt, "the file has no stream of symbol records");
    return publics;
  }
  const auto stream = *pdb.dbi()->symbol_records;
  auto records = pdb.msf().read(stream, "PDB symbol records");
  if (!records) {
    findings.warning("pdb-publics", records.error());
    return publics;
  }
  publics.records = std::move(*records);
  const auto bytes = publics.records.view();
  PublicReader reader{pdb.msf(), stream, bytes, sections, findings};
  Positions positions;
  if (!pdb.dbi()->publics) {
    findings.warning("pdb-publics", std::nullopt,
                     "the file has no publics stream; all symbol records are searched");
    positions = reader.find_all();
  } else if (auto map = read_address_map(pdb.msf(), *pdb.dbi()->publics, bytes.size())) {
    positions = std::move(*map);
  } else {
    findings.warning("pdb-publics", map.error());
    positions = reader.find_all();
  }
  publics.symbols = reader.read(positions);
  sort_by_address(publics.symbols);
  return publics;
}

void locate(PublicSymbols& publics, const PdbSections& sections) {
  for (auto& symbol : publics.symbols)
    symbol.address = sections.to_rva(symbol.section, symbol.offset);
  sort_by_address(publics.symbols);
}

}  // namespace coldtrace::pe
