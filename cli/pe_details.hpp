#pragma once

#include <optional>
#include <string>

#include "cli/json.hpp"
#include "core/findings.hpp"
#include "core/reader.hpp"

namespace coldtrace::cli {

// What the helper program says of the image: one JSON object with "rich_header", "signature",
// "tls" and "resources". The helper runs with limited memory and time; when it is not there,
// crashes, hangs or answers nonsense, that is a finding and there are no details.
std::optional<std::string> read_pe_details(core::ByteView image, core::Findings& findings);

// Whether `json` is such an object, valid UTF-8 and not deeper than the writer below can go.
bool is_pe_details(const std::string& json);

// Writes what is_pe_details accepted: as the value of the current member, or for people.
void write_pe_details(JsonWriter& json, const std::string& details);
void write_pe_details_text(Output& output, const std::string& details);

}  // namespace coldtrace::cli
