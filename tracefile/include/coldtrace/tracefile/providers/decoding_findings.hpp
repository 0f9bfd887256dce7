#pragma once

#include "coldtrace/core/findings.hpp"

namespace coldtrace::tracefile {

// What a decoding of events lacks, as findings whose codes docs/findings.md has. Nothing is noted
// of a count of none.

// `resolved-limit`: events that lost resolved names.
void note_cut_names(u64 events, core::Findings& findings);
// `schema-other`: events that another schema explains than the one that goes first.
void note_other_schemas(u64 events, core::Findings& findings);
// `sealed-field`: fields that the key of the run does not open.
void note_sealed_fields(u64 fields, core::Findings& findings);

}  // namespace coldtrace::tracefile
