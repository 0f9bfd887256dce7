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
// by LIEF. Both are large, and LIEF may fail or run wild on damaged images: hence a process of its
// own, with limits. Nothing, and a finding, if it is missing, fails or returns nonsense.
std::optional<std::string> ask_details_helper(core::ByteView image,
                                              const std::vector<pe::Certificate>& certificates,
                                              core::Findings& findings);

// Whether an answer is the expected object, of the expected depth.
bool is_helper_answer(const std::string& json);

// Any value of an answer.
void write_helper_value(JsonWriter& json, const rapidjson::Value& value);
void write_helper_tree(Output& output, const rapidjson::Value& value, unsigned depth);

}  // namespace coldtrace::cli
