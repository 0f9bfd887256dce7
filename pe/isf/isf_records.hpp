#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pdb/isf_table.hpp"
#include "coldtrace/pe/headers.hpp"

namespace coldtrace::pe {

// No compiler writes longer names: Microsoft's limit is 4,096 bytes.
inline constexpr std::size_t longest_isf_name = 4096;

// Adds the finding `isf-entry` about an entry; `path` is a name, or a type and the name of its
// member.
void report_isf_entry(core::Findings& findings, std::initializer_list<std::string_view> path,
                      std::string_view what);

// The program's pointer size in bytes, from the table's base type "pointer", else from its machine;
// 0 if neither gives it.
u8 pointer_size_of(const IsfTable& table);
u8 pointer_size_of(Machine machine);

// The types of a table as records of a TPI stream, the first with the index 0x1000. All references
// to structures, unions and enumerations are declarations, so that records refer only to earlier
// ones. Deviations from the format are the finding `isf-entry`: a type that cannot be used becomes
// T_NOTYPE, a member without an offset is left out.
std::vector<std::byte> to_type_records(const IsfTable& table, core::Findings& findings);

}  // namespace coldtrace::pe
