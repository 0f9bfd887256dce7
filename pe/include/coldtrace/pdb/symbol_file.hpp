#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/pdb/pdb_publics.hpp"

namespace coldtrace::pe {

// Larger than the symbols of any Windows file; those of browsers come near.
inline constexpr u64 largest_symbol_file = u64{4} << 30;

// Which build a file of symbols is of.
struct PdbIdentity {
  std::string name;  // of the PDB that a symbol table was made of; empty: that of the file counts
  std::optional<core::Guid> guid;  // none of a PDB 2.00
  u32 age = 0;                     // that an image asks for
  std::optional<u16> machine;      // as IMAGE_FILE_HEADER.Machine; 0 where a linker does not say
  std::optional<u32> signature;    // a time stamp, which an image asks for where there is no GUID

  [[nodiscard]] static PdbIdentity of(const Pdb& pdb);
  [[nodiscard]] bool matches(const PdbReference& reference) const {
    return reference.names(guid, signature, age);
  }
  // What an image must ask for to get the file, without a name.
  [[nodiscard]] PdbReference reference() const {
    return {{}, guid, guid ? std::nullopt : signature, age};
  }
};

// Types in memory, as the records of a TPI stream are.
struct TypeRecords {
  std::vector<std::byte> records;
  u8 pointer_size = 0;  // of the program, in bytes; 0 where nothing tells
};

// A PDB and its public symbols, which are views of the file, or a symbol table of Volatility 3 that
// was made of one: isf_file.hpp.
struct SymbolFile {
  std::string path;
  std::unique_ptr<core::LazyFile> file;  // none of what is in memory as a whole
  std::optional<Pdb> pdb;                // nothing: a symbol table
  PdbIdentity identity;
  PdbSections sections;  // none of a symbol table
  PublicSymbols publics;
  core::Findings findings;
  std::optional<bool> matches_image;  // nothing: there is no image to compare
  TypeRecords types;                  // of a symbol table; read_types() reads those of either
  std::vector<std::byte> bytes;       // of a PDB in memory, what the rest is views of

  // Why a file is none.
  struct Failure {
    core::ParseError error;
    std::optional<core::FileKind> kind;  // absent where it could not be opened or read

    // Of a file that was opened and is not of the format, which `no_format` says; what could not be
    // read of it comes first.
    [[nodiscard]] static Failure of_other(const core::FileView& file,
                                          const core::ParseError& no_format);
  };
  static core::Expected<SymbolFile, Failure> open(const std::string& path);
  // What was packed: a PDB in memory, of the file at `path`.
  static core::Expected<SymbolFile, Failure> open(const std::string& path,
                                                  std::vector<std::byte> bytes);

  // What an image must ask for to get the file at `path`, without a name.
  static core::Expected<PdbReference, Failure> identify(const std::string& path);

  [[nodiscard]] bool belongs_to(const std::optional<PdbReference>& reference) const {
    return reference && identity.matches(*reference);
  }

  // Sets `matches_image` by what an image asks for; that it asks for another file is a finding.
  void compare(const std::optional<PdbReference>& reference);

  // Places symbols in the sections of the image that it belongs to, where it has none itself, as
  // PDBs 2.00.
  void take_sections(std::span<const SectionHeader> headers);
};

}  // namespace coldtrace::pe
