#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/import_resolver.hpp"

namespace coldtrace::pe {

// The imports to include in a plan; an empty list selects all.
struct ImportSelection {
  // Globs of functions: the imported name; for an import by ordinal, each name that the exporting
  // module gives it, or "#12"; and the names of the function that forwarders lead to.
  // Case-sensitive, as exports are.
  std::vector<std::string> functions;
  // Globs of the importing modules' file names, case-insensitive.
  std::vector<std::string> modules;

  // Whether imports of the module with this file name are wanted.
  [[nodiscard]] bool selects_module(std::string_view name) const;
};

// The indirect callers of a function: modules that do not import it, but call a module that does,
// or one that calls such a module, and so on.
struct IndirectCallers {
  static constexpr u32 none = ~u32{0};
  std::vector<u32> next;  // by module: the next one on the shortest path; none: not a caller

  // The modules from `module` to the one that imports the function.
  [[nodiscard]] std::vector<u32> path_from(u32 module) const;
};

// A selected function, and the modules that call it through a slot.
struct PlannedFunction {
  u32 target;                  // index into ImportPlan::targets
  std::vector<u32> importers;  // all modules of the set, ascending
  u64 slots;                   // of the plan
  IndirectCallers ways;        // empty without a selection of functions
  std::vector<u32> indirect;   // where `ways` starts, except the module that contains it
};

// A module with the calls that its slots do not show.
struct PlannedModule {
  u32 module;
  std::vector<ResolvedSlot> slots;    // the selected ones, by address
  std::vector<ResolvedSlot> dynamic;  // imports that find functions or load DLLs by name
  std::vector<u32> own_functions;  // selected functions that it exports itself, whose calls inside
                                   // it need no slot. Indexes into ImportPlan::functions
};

// The targets of modules' calls through their import address tables.
struct ImportPlan {
  std::vector<ImportTarget> targets;
  std::vector<PlannedModule> modules;      // those with contents, by index
  std::vector<PlannedFunction> functions;  // by DLL, then name or ordinal
  u64 unresolved = 0;                      // selected slots
  ImportResolver::Texts texts;             // viewed by targets and slots
};

// The plan for `modules`, which are sorted by name. Findings are about the set: imports that could
// not be followed and globs that select nothing.
[[nodiscard]] ImportPlan make_import_plan(std::span<const ModuleTables* const> modules,
                                          const ApiSetSchema* schema,
                                          const ImportSelection& selection,
                                          core::Findings& findings);

// The files that the modules need and that are not in the set, by name: DLLs of imports and of the
// forwarders that these lead to.
[[nodiscard]] std::vector<std::string> find_absent_dlls(
    std::span<const ModuleTables* const> modules, const ApiSetSchema* schema);

// Whether the function finds others by name, or loads DLLs, at run time.
[[nodiscard]] bool is_dynamic_lookup(std::string_view function);

}  // namespace coldtrace::pe
