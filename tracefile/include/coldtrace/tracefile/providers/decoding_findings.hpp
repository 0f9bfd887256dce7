#pragma once

#include "coldtrace/core/findings.hpp"

namespace coldtrace::tracefile {

// What a decoding of events lacks, as findings whose codes are in docs/findings.md. A count of zero
// is not a finding.

// `resolved-limit`: events that lost resolved names.
void note_cut_names(u64 events, core::Findings& findings);
// `schema-other`: events that match another schema than the one with precedence.
void note_other_schemas(u64 events, core::Findings& findings);
// `sealed-field`: fields that the key of the run does not decrypt.
void note_sealed_fields(u64 fields, core::Findings& findings);

}  // namespace coldtrace::tracefile
