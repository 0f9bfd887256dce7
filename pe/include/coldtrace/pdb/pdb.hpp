#pragma once

#include <optional>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/pdb/msf.hpp"
#include "coldtrace/pe/debug_directory.hpp"

namespace coldtrace::pe {

// The PDB info stream, number 1. Source: LLVM, "The PDB Info (aka PDB) Stream".
struct PdbInfo {
  u32 version;
  u32 signature;                   // a time stamp, or a hash in reproducible builds
  u32 age;                         // increases whenever a tool writes the file
  std::optional<core::Guid> guid;  // since 20000404 (VC 7.0)

  [[nodiscard]] u64 size_on_disk() const { return guid ? 28 : 12; }
};

// The places of other data according to the DBI stream, number 3. Sources: LLVM, "The PDB DBI
// (Debug Info) Stream", also for the order of the optional debug header; for PDB 2.00, DBIHdr and
// NewDBIHdr of microsoft-pdb, PDB/dbi/dbi.h.
struct DbiHeader {
  static constexpr u32 version_60 = 19'970'606;

  u32 version;             // 0 for Visual C++ 4, whose header has none
  std::optional<u32> age;  // equals that of the image's CodeView record, see `matches`
  u16 flags;
  u16 machine;  // as IMAGE_FILE_HEADER.Machine; 0 if a linker does not say
  // Substreams, in this stream.
  struct Substream {
    u64 position, size;
  };
  Substream modules;
  Substream contributions;
  Substream type_servers;  // see type_servers.hpp
  // Stream numbers, absent if there is no such stream.
  std::optional<u32> publics;
  std::optional<u32> symbol_records;
  std::optional<u32> section_headers;
  std::optional<u32> original_section_headers;  // before a tool moved the code
  std::optional<u32> omap_from_source;          // from the old place of the code to the new one

  // Whether some types are in other files.
  [[nodiscard]] bool has_type_servers() const { return type_servers.size != 0; }
};

inline constexpr u32 dbi_stream = 3;

// Bits of DbiHeader::flags.
inline constexpr u16 dbi_incremental = 1;
inline constexpr u16 dbi_stripped = 2;  // private symbols were stripped

// A program database, PDB 7.00 or 2.00. A view: the file must outlive it.
class Pdb {
 public:
  // Fails if it is neither or its info stream cannot be used. A DBI stream that cannot be used is a
  // finding.
  static core::Result<Pdb> open(const core::FileView& file, core::Findings& findings);

  [[nodiscard]] const Msf& msf() const { return msf_; }
  [[nodiscard]] const PdbInfo& info() const { return info_; }
  // Nothing: a compiler's file of types, or damaged.
  [[nodiscard]] const std::optional<DbiHeader>& dbi() const { return dbi_; }

  // The age that an image refers to: the DBI stream's, otherwise the info stream's.
  [[nodiscard]] u32 age() const { return dbi_ && dbi_->age ? *dbi_->age : info_.age; }

  // Whether the image with this reference was linked together with the PDB: GUID (signature if
  // there is none) and age are the same. The age is the DBI stream's: tools that change the file
  // afterwards, such as pdbstr, increase only the info stream's. Sources: the crates ms-pdb,
  // DbiStreamHeader ("must match the same field within the PE header") and pdb,
  // PDBInformation::age.
  [[nodiscard]] bool matches(const PdbReference& reference) const {
    return reference.names(info_.guid, info_.signature, age());
  }
  // The same of the first CodeView record of the image; false where it has none, or it cannot be
  // read.
  [[nodiscard]] bool matches(const Image& image, core::Findings& findings) const;

 private:
  Pdb(Msf msf, const PdbInfo& info) : msf_{std::move(msf)}, info_{info} {}

  Msf msf_;
  PdbInfo info_;
  std::optional<DbiHeader> dbi_;
};

}  // namespace coldtrace::pe
