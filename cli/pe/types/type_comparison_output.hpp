#pragma once

#include "cli/output/json.hpp"
#include "cli/output/output.hpp"
#include "cli/pe/types/compared_types.hpp"

namespace coldtrace::cli {

// Two files, the older one first.
struct ComparedFiles {
  const pe::TypeFile& before;
  const pe::TypeFile& after;
  const pe::TypeFileComparison& compared;
};

void write_type_comparison_text(Output& output, const ComparedFiles& files);
// Writes everything but the findings to the current object.
void write_type_comparison_json(JsonWriter& json, const ComparedFiles& files);

}  // namespace coldtrace::cli
