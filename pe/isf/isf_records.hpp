#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pdb/isf_table.hpp"
#include "coldtrace/pe/headers.hpp"

namespace coldtrace::pe {

// Names that are longer belong to no compiler: 4,096 bytes is the longest of Microsoft's.
inline constexpr std::size_t longest_isf_name = 4096;

// What is wrong with an entry, counted as the finding `isf-entry`; `path` is a name, or a type and
// the name of its member.
void report_isf_entry(core::Findings& findings, std::initializer_list<std::string_view> path,
                      std::string_view what);

// Of the program, in bytes: what the table's base type "pointer" says, else its machine; 0 where
// neither does.
u8 pointer_size_of(const IsfTable& table);
u8 pointer_size_of(Machine machine);

// The types of a table as records of a TPI stream, the first with the index 0x1000. All references
// to structures, unions and enumerations are declarations, so that records refer to earlier ones
// alone. What is not as the format has it is the finding `isf-entry`: a type that cannot be used is
// T_NOTYPE, a member without a place is left out.
std::vector<std::byte> to_type_records(const IsfTable& table, core::Findings& findings);

}  // namespace coldtrace::pe
