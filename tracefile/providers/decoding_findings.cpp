#include "coldtrace/tracefile/providers/decoding_findings.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::tracefile {

void note_cut_names(u64 events, core::Findings& findings) {
  if (events > 0)
    findings.warning("resolved-limit", std::nullopt,
                     "resolved names of {} exceed the limit for the event's size",
                     core::counted(events, "event", "events"));
}

void note_other_schemas(u64 events, core::Findings& findings) {
  if (events > 0)
    findings.info("schema-other", std::nullopt,
                  "{} a schema other than the one that takes precedence",
                  core::counted(events, "event matches", "events match"));
}

void note_sealed_fields(u64 fields, core::Findings& findings) {
  if (fields > 0)
    findings.warning(
        "sealed-field", std::nullopt, "{} changed",
        core::counted(fields, "encrypted field was not encrypted with this key, or was",
                      "encrypted fields were not encrypted with this key, or were"));
}

}  // namespace coldtrace::tracefile
