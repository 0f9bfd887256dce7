#pragma once

#include <optional>
#include <string>
#include <vector>

#include <rapidjson/document.h>

#include "cli/output/json.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/pe/certificates.hpp"

namespace coldtrace::cli {

// The path of the program coldtrace-pe-details; empty when it is not installed.
std::string details_helper();

// What the program coldtrace-pe-details says of an image: OpenSSL of its signatures, LIEF of its
// tables. Both are large, and LIEF may fail or run wild on damaged images: hence a process of its
// own, with limits. Nothing, and a finding, when it is absent, fails or answers nonsense.
std::optional<std::string> ask_details_helper(core::ByteView image,
                                              const std::vector<pe::Certificate>& certificates,
                                              core::Findings& findings);

// Whether an answer is the object that is expected, of the depth that is.
bool is_helper_answer(const std::string& json);

// Parses an answer.
void parse_helper_answer(const std::string& json, rapidjson::Document& document);

// Any value of an answer.
void write_helper_value(JsonWriter& json, const rapidjson::Value& value);
void write_helper_tree(Output& output, const rapidjson::Value& value, unsigned depth);

}  // namespace coldtrace::cli
