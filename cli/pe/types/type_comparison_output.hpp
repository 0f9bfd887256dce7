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
// Everything except the findings, into the object that was begun.
void write_type_comparison_json(JsonWriter& json, const ComparedFiles& files);

}  // namespace coldtrace::cli
