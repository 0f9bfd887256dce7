#pragma once

#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/confidence.hpp"

namespace coldtrace::syscall_map {

// The offset of a field in a structure of this kernel.
struct FieldOffset {
  std::string structure;              // "_ETHREAD", "_KTHREAD", "_EPROCESS", "_KPRCB"
  std::string field;                  // "Cid.UniqueThread", "ApcState.Process", "ImageFileName"
  u32 offset = 0;                     // bytes
  std::vector<std::string> evidence;  // sentences
  Confidence confidence = Confidence::low;
  bool verified = false;
};

// Offsets of thread-related structure members, from accessors of the kernel.
struct ThreadOffsets {
  std::vector<FieldOffset> fields;  // by structure, then offset
  core::Findings findings;          // what was not found, and contradicting accessors
};

// An offset from a symbol file.
struct KnownOffset {
  std::string structure;
  std::string field;
  u32 offset = 0;

  bool operator==(const KnownOffset&) const = default;
};

// The fields that are looked for in this kernel, for requests to a symbol file; offsets are 0.
[[nodiscard]] std::vector<KnownOffset> thread_fields(const pe::ImageTables& tables);

// The fields that lead from a thread to its identifier, its process, and the process's identifier
// and name, for a hook of the context switch. They are proved by the small functions that the
// kernel exports to read them, and by the types of the matching PDB, if any.
[[nodiscard]] ThreadOffsets find_thread_offsets(const pe::ImageTables& tables,
                                                const std::vector<KnownOffset>& types = {});

}  // namespace coldtrace::syscall_map
