#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/guid.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// IMAGE_DEBUG_DIRECTORY; 28 bytes. Source: Microsoft, "PE Format", .debug section.
struct DebugEntry {
  static constexpr u32 size_on_disk = 28;
  u32 time_date_stamp;
  u32 type;           // 2 CodeView, 4 misc, 16 reproducible build, 20 extended DllCharacteristics
  u16 minor_version;  // of the data's format
  u64 offset;         // of the data in the file
  u64 stored;         // number of bytes of the data in the file
};

// The symbol file that belongs to an image.
struct PdbReference {
  std::string name;                    // as linked, often with a path; usually UTF-8
  std::optional<core::Guid> guid;      // of RSDS; NB10 has none
  std::optional<u32> time_date_stamp;  // of NB10
  u32 age;
  bool portable = false;  // a portable PDB of .NET, whose age says nothing

  // Whether it refers to the PDB with these values: the same GUID, or if there is none the same
  // signature, and the same age. Names do not matter: files are renamed.
  [[nodiscard]] bool names(const std::optional<core::Guid>& its_guid, std::optional<u32> signature,
                           u32 its_age) const {
    return age == its_age && guid == its_guid &&
           (guid || (signature && time_date_stamp == signature));
  }
};

// Whether two references are to one build of a PDB: they have the same GUID and age, or are both
// NB10 with the same TimeDateStamp and age.
[[nodiscard]] bool same_pdb(const PdbReference& a, const PdbReference& b);

// Empty if the image has none. Entries whose data is not in the file are findings.
[[nodiscard]] std::vector<DebugEntry> read_debug_directory(const Image& image,
                                                           core::Findings& findings);

// The record of the first CodeView entry: RSDS (PDB 7.0) or NB10 (PDB 2.0). Source: format as
// published in LLVM's CodeView documentation and seen in every linked image.
[[nodiscard]] std::optional<PdbReference> find_pdb_reference(const Image& image,
                                                             core::Findings& findings);

// "GUID {...} and age 1"; without a GUID "time stamp 0x560b9f0f and age 1", or "no GUID".
[[nodiscard]] std::string describe_build(const PdbReference& pdb);

// The folder in which a symbol server keeps a build: "1EB9FACB04EA273BB24BA52C8B8D336A1", which
// ends with FFFFFFFF for a portable PDB. Source: Microsoft, "SymStore", folder of a file with debug
// information, and "SSQP Key conventions" of dotnet/symstore.
[[nodiscard]] std::string symbol_server_key(const PdbReference& reference);

// Where a symbol server keeps the file: "ntdll.pdb/1EB9FACB04EA273BB24BA52C8B8D336A1/ntdll.pdb".
// Nothing if its name is not UTF-8: the meaning of other bytes depends on the code page of the
// requesting machine.
[[nodiscard]] std::optional<std::string> symbol_server_path(const PdbReference& reference);

}  // namespace coldtrace::pe
