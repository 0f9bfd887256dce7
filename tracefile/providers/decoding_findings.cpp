#include "coldtrace/tracefile/providers/decoding_findings.hpp"

namespace coldtrace::tracefile {

void note_cut_names(u64 events, core::Findings& findings) {
  if (events > 0)
    findings.warning("resolved-limit", std::nullopt,
                     "resolved names of {} events exceed the limit for the event's size", events);
}

void note_other_schemas(u64 events, core::Findings& findings) {
  if (events > 0)
    findings.info("schema-other", std::nullopt,
                  "{} events match a schema other than the one that takes precedence", events);
}

void note_sealed_fields(u64 fields, core::Findings& findings) {
  if (fields > 0)
    findings.warning("sealed-field", std::nullopt,
                     "{} encrypted fields were not encrypted with this key, or were changed",
                     fields);
}

}  // namespace coldtrace::tracefile
