#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pe/image_tables.hpp"

namespace coldtrace::pe {

// The source of a code name.
enum class SymbolSource : u8 { exports, pdb };

// The names of an image's code by address: its exports except forwarders, the public symbols of its
// PDB, and the procedures of its modules. Of several names at one address, the public symbol's
// takes precedence, then a procedure's, then the first in byte order.
class CodeSymbols {
 public:
  struct Symbol {
    std::string_view name;  // valid UTF-8, owned by the object; "#7" for an export without a name
    Rva address;
    SymbolSource source;
  };
  struct Place {
    std::size_t number;  // of the symbol
    u32 offset;          // distance from it, in bytes
  };

  // Either may be null, and need not outlive the object. Names longer than `longest_name`, and more
  // names than the image has bytes, are cut with a finding.
  CodeSymbols(const ImageTables* tables, const SymbolFile* pdb, core::Findings& findings);

  // The symbol at `address` or before it, if code can extend from there to here: in one section,
  // with no end of a function of .pdata or a procedure between, and at most `farthest` bytes away.
  [[nodiscard]] std::optional<Place> find(Rva address) const;

  // `number` is that of a Place, or below size().
  [[nodiscard]] Symbol symbol(std::size_t number) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  static constexpr std::size_t longest_name = 1024;
  // Only .pdata and procedures say where functions end, and few are longer.
  static constexpr u32 farthest = 0x10000;

 private:
  enum class Origin : u8 { public_symbol, procedure, exported };  // in order of precedence
  struct Entry {
    u32 address;
    u32 length;  // of its name
    u64 name;    // in names_
    Origin origin;
  };
  struct Extent {
    u32 start, end;
  };

  void add_sections(std::span<const SectionHeader> sections);
  void add_exports(const ImageTables& tables, core::Findings& findings);
  void add_publics(const SymbolFile& pdb, core::Findings& findings);
  void add_procedures(const SymbolFile& pdb, core::Findings& findings);
  void add_functions(const Image& image, core::Findings& findings);
  bool add(Rva address, std::string_view name, Origin origin);
  void sort();
  void sort_procedures();
  std::string_view name_of(const Entry& entry) const {
    return std::string_view{names_}.substr(entry.name, entry.length);
  }

  std::vector<Entry> entries_;
  std::string names_;
  std::vector<Extent> sections_;    // with code, by address; empty if unknown
  std::vector<Extent> functions_;   // by address
  std::vector<Extent> procedures_;  // by address
};

}  // namespace coldtrace::pe
