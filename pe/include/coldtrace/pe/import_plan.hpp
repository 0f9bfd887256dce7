#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/import_resolver.hpp"

namespace coldtrace::pe {

// Which imports a plan is about; an empty list selects all.
struct ImportSelection {
  // Globs of functions: the imported name, for an import by ordinal each name that the exporting
  // module gives it or "#12", and the names of the function that forwarders lead to.
  // Case-sensitive, as exports are.
  std::vector<std::string> functions;
  // Globs of the importing modules' file names, without regard to case.
  std::vector<std::string> modules;

  // Whether imports of the module with this file name are wanted.
  [[nodiscard]] bool selects_module(std::string_view name) const;
};

// Who has to wait for another module to call a function: it does not import it, but calls a module
// that does, or one that calls such a module, and so on.
struct IndirectCallers {
  static constexpr u32 none = ~u32{0};
  std::vector<u32> next;  // by module: the next one on the shortest way; none: not one of them

  // The modules from `module` to the one that imports the function.
  [[nodiscard]] std::vector<u32> path_from(u32 module) const;
};

// A selected function and who calls it through a slot.
struct PlannedFunction {
  u32 target;                  // index into ImportPlan::targets
  std::vector<u32> importers;  // all modules of the set, ascending
  u64 slots;                   // of the plan
  IndirectCallers ways;        // empty without a selection of functions
  std::vector<u32> indirect;   // the modules that `ways` starts from, but for the one that has it
};

// A module with the calls that its slots do not show.
struct PlannedModule {
  u32 module;
  std::vector<ResolvedSlot> slots;    // the selected ones, by address
  std::vector<ResolvedSlot> dynamic;  // imports that find functions or load DLLs by name
  std::vector<u32> own_functions;     // selected functions that it exports itself: its own calls of
                                      // them need no slot. Indexes into ImportPlan::functions
};

// Where the calls of modules through their import address tables lead.
struct ImportPlan {
  std::vector<ImportTarget> targets;
  std::vector<PlannedModule> modules;      // that have something to say, by index
  std::vector<PlannedFunction> functions;  // by DLL, then name or ordinal
  u64 unresolved = 0;                      // selected slots
  ImportResolver::Texts texts;             // what views of targets and slots point into
};

// The plan for `modules`, which are in the order of their names. Findings are about the set: what
// could not be followed and which globs select nothing.
[[nodiscard]] ImportPlan make_import_plan(std::span<const ModuleTables* const> modules,
                                          const ApiSetSchema* schema,
                                          const ImportSelection& selection,
                                          core::Findings& findings);

// The files that the modules need and that the set does not have, by name: DLLs of imports
// and of the forwarders that these lead to.
[[nodiscard]] std::vector<std::string> find_absent_dlls(
    std::span<const ModuleTables* const> modules, const ApiSetSchema* schema);

// Whether calls of the function find others by name, or load DLLs, while the program runs.
[[nodiscard]] bool is_dynamic_lookup(std::string_view function);

}  // namespace coldtrace::pe
