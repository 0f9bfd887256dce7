#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// Values of hook tables as rows of other projects' tables. A value that was not found, or that has
// low confidence because only one function shows it or sources contradict, is treated as absent:
// the format's word for that is written, if it has one, and the finding `hook-value` counts it. A
// build for which a row cannot be made is left out with the finding `hook-row`.

// EDRSandblast, Offsets/NtoskrnlOffsets.csv: x64 kernels, identified only by build and revision.
// Source: wavestone-cdt/EDRSandblast at 0710fad9, EDRSandblast/Utils/NtoskrnlOffsets.c and
// FileVersion.c (which read it), Offsets/ExtractOffsets.py (which writes it).
struct EdrsandblastRow {
  u16 build = 0, revision = 0;  // the last two numbers of the file version
  std::vector<u64> values;      // by column; 0: absent, as its reader takes it
};
// Uses the built-in member list `edrsandblast`, whose names are the columns.
[[nodiscard]] std::vector<std::string> edrsandblast_columns();
// By build and revision, each once: of two kernels with one key and different values, the first is
// kept.
[[nodiscard]] std::vector<EdrsandblastRow> make_edrsandblast_rows(std::span<const HookTable> builds,
                                                                  core::Findings& findings);

// System Informer, kphlib/kphdyn.xml, from which its build makes the binary dynamic data.
// Source: winsiderss/systeminformer at 103cc43d, tools/CustomBuildTool/DynData.cs (version 16).
struct KphdynRow {
  std::string_view arch;  // "amd64" or "arm64"
  std::string version;    // for people; empty: unknown
  std::string_view file;  // "ntoskrnl.exe", or "ntkrla57.exe" with five levels of page tables
  std::string hash;       // SHA-256 in lower-case hex, for people; empty: unknown
  u32 time_date_stamp = 0;
  u32 size_of_image = 0;
  u32 fields = 0;  // the number of the set
};
struct KphdynFields {
  u32 number = 0;                                   // from 1 on
  std::vector<std::pair<std::string, u16>> values;  // absent ones are 0xffff to its reader
};
struct KphdynTable {
  std::vector<KphdynRow> rows;  // in the order of their kernels
  std::vector<KphdynFields> fields;
};
// For the built-in member list `kphdyn`.
[[nodiscard]] KphdynTable make_kphdyn_table(std::span<const HookTable> builds,
                                            core::Findings& findings);

}  // namespace coldtrace::syscall_map
