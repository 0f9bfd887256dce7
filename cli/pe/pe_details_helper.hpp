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

// The path of the program coldtrace-pe-details; empty if it is not installed.
std::string details_helper();

// What the program coldtrace-pe-details says about an image: its signatures by OpenSSL, its tables
// by LIEF. Both are large, and LIEF may crash or hang on damaged images: hence a separate process,
// with limits. Nothing, and a finding, if it is absent, fails or gives an invalid answer.
std::optional<std::string> ask_details_helper(core::ByteView image,
                                              const std::vector<pe::Certificate>& certificates,
                                              core::Findings& findings);

// Whether an answer is the expected object, with the expected depth.
bool is_helper_answer(const std::string& json);

// Parses an answer.
void parse_helper_answer(const std::string& json, rapidjson::Document& document);

// Any value of an answer.
void write_helper_value(JsonWriter& json, const rapidjson::Value& value);
void write_helper_tree(Output& output, const rapidjson::Value& value, unsigned depth);

}  // namespace coldtrace::cli
