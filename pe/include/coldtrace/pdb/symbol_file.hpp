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

// The build to which a symbol file belongs.
struct PdbIdentity {
  std::string name;  // of the PDB from which a symbol table was made; empty: use that of the file
  std::optional<core::Guid> guid;  // none for a PDB 2.00
  u32 age = 0;                     // to which an image refers
  std::optional<u16> machine;      // as IMAGE_FILE_HEADER.Machine; 0 if a linker does not say
  std::optional<u32> signature;    // a time stamp, to which an image refers if there is no GUID

  // With the age that an image asks for, Pdb::age(), and no name.
  [[nodiscard]] static PdbIdentity of(const Pdb& pdb);
  [[nodiscard]] bool matches(const PdbReference& reference) const {
    return reference.names(guid, signature, age);
  }
  // The reference that an image must have to get the file, without a name.
  [[nodiscard]] PdbReference reference() const {
    return {{}, guid, guid ? std::nullopt : signature, age};
  }
};

// Types in memory, in the form of TPI stream records.
struct TypeRecords {
  std::vector<std::byte> records;
  u8 pointer_size = 0;  // of the program, in bytes; 0 if unknown
};

// A PDB and its public symbols, which are views of the file, or a symbol table of Volatility 3 made
// from one: isf_file.hpp.
struct SymbolFile {
  std::string path;
  std::unique_ptr<core::LazyFile> file;  // none if everything is in memory
  std::optional<Pdb> pdb;                // nothing: a symbol table
  PdbIdentity identity;
  PdbSections sections;  // empty for a symbol table
  PublicSymbols publics;
  core::Findings findings;
  std::optional<bool> matches_image;  // nothing: there is no image to compare with
  TypeRecords types;                  // of a symbol table; read_types() reads those of either
  std::vector<std::byte> bytes;       // of a PDB in memory, viewed by the rest

  // Why a file is not a symbol file.
  struct Failure {
    core::ParseError error;
    std::optional<core::FileKind> kind;  // absent where it could not be opened or read

    // Of a file that was opened and is not of the format, which `no_format` says; what could not be
    // read of it comes first.
    [[nodiscard]] static Failure of_other(const core::FileView& file,
                                          const core::ParseError& no_format);
  };
  // A PDB, or a symbol table of Volatility 3, as a file that is not compressed.
  static core::Expected<SymbolFile, Failure> open(const std::string& path);
  // Decompressed data: a PDB in memory, from the file at `path`.
  static core::Expected<SymbolFile, Failure> open(const std::string& path,
                                                  std::vector<std::byte> bytes);

  // The reference that an image must have to get the file at `path`, without a name.
  static core::Expected<PdbReference, Failure> identify(const std::string& path);

  [[nodiscard]] bool belongs_to(const std::optional<PdbReference>& reference) const {
    return reference && identity.matches(*reference);
  }

  // Sets `matches_image` by an image's reference; a reference to another file is a finding.
  void compare(const std::optional<PdbReference>& reference);

  // Places symbols in the sections of the image that the file belongs to, if it has none itself,
  // such as a PDB 2.00.
  void take_sections(std::span<const SectionHeader> headers);
};

}  // namespace coldtrace::pe
