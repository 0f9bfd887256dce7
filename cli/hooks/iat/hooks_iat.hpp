#pragma once

#include <string>
#include <vector>

#include "cli/hooks/iat/module_folder.hpp"

namespace coldtrace::cli {

// A plan, and what it was made for.
struct IatDocument {
  std::string program;  // empty: all modules of the folders
  std::vector<std::string> folders;
  pe::ImportSelection selection;
  const pe::ModuleSet& set;
  const ModuleFiles& files;
  pe::ImportPlan plan;
  std::vector<pe::PlannedModule> silent;  // modules of the plan that have only dynamic lookups

  const pe::SetModule& module(u32 index) const { return set.modules()[index]; }
  const pe::ModuleTables& tables(u32 index) const { return module(index).tables; }
};

// "HeapAlloc", "#12", or a note that the name cannot be read.
std::string function_text(std::string_view name, std::optional<u32> ordinal);

// The imported name of a function that does run-time lookups, or the name for its ordinal.
std::string_view lookup_name(const IatDocument& document, const pe::ResolvedSlot& slot);

// As ModuleTables::is_bound_to() for the DLL in the set; nothing if there is none.
std::optional<bool> is_binding_current(const IatDocument& document, const pe::ResolvedSlot& slot);

void write_iat_text(Output& output, const IatDocument& document);
void write_iat_csv(Output& output, const IatDocument& document);
void write_iat_json(Output& output, Int64 int64, const IatDocument& document);

}  // namespace coldtrace::cli
