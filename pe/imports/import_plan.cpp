#include "coldtrace/pe/import_plan.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/no_match.hpp"

namespace coldtrace::pe {
namespace {

// Enough for what a person can read, and it bounds time and memory of the ways.
constexpr std::size_t most_functions_with_indirect_callers = 1'000;

// Source: Microsoft, "Run-Time Dynamic Linking", "Delay Load Improvements" and the pages of these
// functions; those of ntdll in Windows SDK, winternl.h, and Wine, dlls/ntdll/ntdll.spec.
constexpr std::array dynamic_lookups = {
    std::string_view{"FltGetRoutineAddress"},
    std::string_view{"GetProcAddress"},
    std::string_view{"GetProcAddressForCaller"},
    std::string_view{"LdrGetProcedureAddress"},
    std::string_view{"LdrGetProcedureAddressEx"},
    std::string_view{"LdrGetProcedureAddressForCaller"},
    std::string_view{"LdrLoadDll"},
    std::string_view{"LdrResolveDelayLoadedAPI"},
    std::string_view{"LoadLibraryA"},
    std::string_view{"LoadLibraryExA"},
    std::string_view{"LoadLibraryExW"},
    std::string_view{"LoadLibraryW"},
    std::string_view{"LoadModule"},
    std::string_view{"LoadPackagedLibrary"},
    std::string_view{"MmGetSystemRoutineAddress"},
    std::string_view{"MmGetSystemRoutineAddressEx"},
    std::string_view{"NdisGetRoutineAddress"},
    std::string_view{"ResolveDelayLoadedAPI"},
};

bool matches_any(const std::vector<std::string>& globs, std::string_view text, GlobCase glob_case,
                 std::vector<bool>* matched = nullptr) {
  bool any = false;
  for (std::size_t i = 0; i < globs.size(); ++i) {
    if (!glob_matches(globs[i], text, glob_case)) continue;
    if (!matched) return true;
    (*matched)[i] = true;
    any = true;
  }
  return any;
}

// What the texts of a plan may be together: names that many slots share, forwarders of forwarders
// and ways through modules multiply what the files have.
class TextBudget {
 public:
  explicit TextBudget(std::span<const ModuleTables* const> modules) {
    for (const auto* const module : modules) left_ += module->file_size * factor;
  }

  // False once it is used up.
  bool take(u64 size) {
    if (size > left_) return false;
    left_ -= size;
    return true;
  }

 private:
  // A hundred times what the modules of a whole Windows take.
  static constexpr u64 factor = 16;
  u64 left_ = u64{64} << 10;
};

class Planner {
 public:
  Planner(std::span<const ModuleTables* const> modules, const ApiSetSchema* schema,
          const ImportSelection& selection, core::Findings& findings)
      : modules_{modules},
        selection_{selection},
        findings_{findings},
        resolver_{modules, schema},
        budget_{modules},
        matched_(selection.functions.size()),
        callers_(modules.size()) {}

  ImportPlan make() {
    for (u32 module = 0; module < modules_.size(); ++module) resolve(module);
    plan_.targets = resolver_.take_targets();
    plan_.texts = resolver_.take_texts();
    collect_functions();
    add_own_functions();
    if (!selection_.functions.empty()) find_indirect_callers();
    report_globs();
    std::erase_if(plan_.modules, [](const PlannedModule& planned) {
      return planned.slots.empty() && planned.dynamic.empty() && planned.own_functions.empty();
    });
    return std::move(plan_);
  }

 private:
  void resolve(u32 module) {
    const auto& tables = *modules_[module];
    const bool shown = selection_.selects_module(tables.name);
    auto& planned = plan_.modules.emplace_back();
    planned.module = module;
    for (const auto& slot : resolver_.resolve(module)) {
      const auto& target = resolver_.targets()[slot.target];
      if (target.outcome == Outcome::resolved && *target.module != module)
        callers_[*target.module].insert(module);
      const auto& import = tables.slots[slot.slot];
      if (shown && (is_dynamic_lookup(import.name) || is_dynamic_lookup(target.name))) {
        if (budget_.take(text_of(slot, import)))
          planned.dynamic.push_back(slot);
        else
          report_limit();
      }
      if (!selects(slot, import, target)) continue;
      importers_[slot.target].insert(module);
      if (!shown) continue;
      if (!budget_.take(text_of(slot, import) + text_of(slot.target))) {
        report_limit();
        continue;
      }
      report(slot, import, target);
      planned.slots.push_back(slot);
    }
  }

  // How long the texts of a slot are, and those of a target.
  u64 text_of(const ResolvedSlot& slot, const ImportSlot& import) const {
    u64 size = import.name.size() + modules_[slot.module]->dlls[import.dll].name.size();
    if (import.by_ordinal && slot.exported)
      for (const auto name : modules_[*slot.exporter]->names_of(import.ordinal))
        size += name.size();
    return size;
  }

  u64 text_of(u32 index) {
    constexpr u64 unknown = ~u64{0};
    if (text_of_target_.size() <= index) text_of_target_.resize(index + 1, unknown);
    auto& size = text_of_target_[index];
    if (size != unknown) return size;
    const auto& target = resolver_.targets()[index];
    size = target.dll.size() + target.name.size();
    for (const auto& step : target.forwarders) {
      const auto& entry = modules_[step.module]->exports[step.exported];
      size += entry.name.size() + entry.forwarder.size();
    }
    if (target.outcome == Outcome::resolved)
      for (const auto name : modules_[*target.module]->names_of(*target.ordinal))
        size += name.size();
    return size;
  }

  void report_limit() {
    findings_.warning("iat-limit", std::nullopt,
                      "slots that share names would make the plan larger than its files justify; "
                      "the rest is left out");
  }

  bool selects(const ResolvedSlot& slot, const ImportSlot& import, const ImportTarget& target) {
    if (selection_.functions.empty()) return true;
    const auto is_selected = [&](std::string_view name) {
      return matches_any(selection_.functions, name, GlobCase::sensitive, &matched_);
    };
    bool selected = !import.name.empty() && is_selected(import.name);
    if (import.by_ordinal) {
      selected |= is_selected(fmt::format("#{}", import.ordinal));
      if (slot.exported)
        for (const auto name : modules_[*slot.exporter]->names_of(import.ordinal))
          selected |= is_selected(name);
    }
    if (target.outcome == Outcome::resolved) {
      for (const auto name : modules_[*target.module]->names_of(*target.ordinal))
        selected |= is_selected(name);
    } else if (!target.name.empty()) {
      selected |= is_selected(target.name);
    }
    return selected;
  }

  void report(const ResolvedSlot& slot, const ImportSlot& import, const ImportTarget& target) {
    const auto& tables = *modules_[slot.module];
    if (target.outcome == Outcome::resolved) return;
    ++plan_.unresolved;
    const auto function =
        import.by_ordinal ? fmt::format("#{}", import.ordinal) : std::string{import.name};
    const auto& dll = tables.dlls[import.dll];
    switch (target.outcome) {
      case Outcome::other_machine:
        findings_.warning("import-machine", std::nullopt, "{} imports {} from {}, which is for {}",
                          tables.name, function, dll.name,
                          to_string(modules_[*target.module]->machine));
        break;
      case Outcome::forwarder_loop:
      case Outcome::forwarder_limit:
        findings_.warning("forwarder-loop", std::nullopt, "{} imports {} from {}: {}", tables.name,
                          function, dll.name, to_string(target.outcome));
        break;
      case Outcome::no_function:
        // What is asked for at the first call alone may be a function of a later system.
        if (!dll.delayed) {
          findings_.warning("import-not-exported", std::nullopt,
                            "{} imports {} from {}, but {} does not export what that leads to",
                            tables.name, function, dll.name, target.dll);
          break;
        }
        [[fallthrough]];
      default:
        findings_.info("import-unresolved", std::nullopt, "{} imports {} from {}: {}", tables.name,
                       function, dll.name, to_string(target.outcome));
    }
  }

  // Two targets are one function when they are one export, or nothing is known but the name.
  auto identity_of(u32 index) const {
    const auto& target = plan_.targets[index];
    const bool known = target.outcome == Outcome::resolved;
    return std::tuple{target.dll, known ? std::string_view{} : target.name,
                      target.ordinal.value_or(0), known ? Outcome::resolved : target.outcome};
  }

  void collect_functions() {
    std::map<decltype(identity_of(0)), u32> known;
    std::vector<std::set<u32>> importers;
    function_of_target_.assign(plan_.targets.size(), IndirectCallers::none);
    for (const auto& [target, modules] : importers_) {
      const auto [entry, added] =
          known.try_emplace(identity_of(target), static_cast<u32>(plan_.functions.size()));
      if (added) {
        plan_.functions.push_back({target, {}, 0, {}, {}});
        importers.emplace_back();
      }
      importers[entry->second].insert(modules.begin(), modules.end());
      function_of_target_[target] = entry->second;
    }
    for (std::size_t i = 0; i < importers.size(); ++i)
      plan_.functions[i].importers.assign(importers[i].begin(), importers[i].end());
    for (const auto& planned : plan_.modules)
      for (const auto& slot : planned.slots)
        ++plan_.functions[function_of_target_[slot.target]].slots;
    if (selection_.functions.empty())
      std::erase_if(plan_.functions, [](const auto& function) { return function.slots == 0; });
    const auto order = [&](const PlannedFunction& function) {
      const auto& target = plan_.targets[function.target];
      return std::tuple{target.dll, target.name, target.ordinal, target.outcome};
    };
    std::stable_sort(plan_.functions.begin(), plan_.functions.end(),
                     [&](const auto& a, const auto& b) { return order(a) < order(b); });
  }

  void add_own_functions() {
    for (u32 i = 0; i < plan_.functions.size(); ++i) {
      const auto& target = plan_.targets[plan_.functions[i].target];
      if (target.outcome == Outcome::resolved &&
          selection_.selects_module(modules_[*target.module]->name))
        plan_.modules[*target.module].own_functions.push_back(i);
    }
  }

  void find_indirect_callers() {
    const auto count = std::min(plan_.functions.size(), most_functions_with_indirect_callers);
    if (count < plan_.functions.size())
      findings_.info(
          "iat-indirect-limit", std::nullopt,
          "{} functions are selected; calls through other modules are listed for the first {}",
          plan_.functions.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      auto& function = plan_.functions[i];
      function.ways = ways_to(function.importers);
      const auto& target = plan_.targets[function.target];
      for (u32 module = 0; module < modules_.size(); ++module)
        // The module that has the function needs no other one to call it.
        if (function.ways.next[module] != IndirectCallers::none && target.module != module &&
            selection_.selects_module(modules_[module]->name)) {
          if (!budget_.take(text_of_way(function.ways, module))) {
            report_limit();
            return;
          }
          function.indirect.push_back(module);
        }
    }
  }

  u64 text_of_way(const IndirectCallers& ways, u32 module) const {
    u64 size = 0;
    for (const auto step : ways.path_from(module)) size += modules_[step]->name.size();
    return size;
  }

  // Breadth first from those that import it; of ways of one length the one whose next module has
  // the first name.
  IndirectCallers ways_to(const std::vector<u32>& importers) const {
    IndirectCallers callers{std::vector<u32>(modules_.size(), IndirectCallers::none)};
    std::vector<bool> reached(modules_.size());
    for (const auto module : importers) reached[module] = true;
    auto front = importers;
    while (!front.empty()) {
      std::vector<u32> following;
      for (const auto called : front)
        for (const auto caller : callers_[called])
          if (!reached[caller]) {
            reached[caller] = true;
            callers.next[caller] = called;
            following.push_back(caller);
          }
      std::sort(following.begin(), following.end());
      front = std::move(following);
    }
    return callers;
  }

  void report_globs() {
    core::NoMatch unmatched;
    if (std::find(matched_.begin(), matched_.end(), false) != matched_.end()) {
      const auto names = imported_names();
      for (std::size_t i = 0; i < matched_.size(); ++i)
        if (!matched_[i]) unmatched.add("imported function", selection_.functions[i], names);
    }
    std::vector<std::string_view> names;
    for (const auto* module : modules_) names.push_back(module->name);
    for (const auto& glob : selection_.modules)
      if (std::none_of(names.begin(), names.end(), [&](std::string_view name) {
            return glob_matches(glob, name, GlobCase::insensitive);
          }))
        unmatched.add("module", glob, names);
    unmatched.report(findings_);
  }

  std::vector<std::string_view> imported_names() const {
    std::set<std::string_view> names;
    for (const auto* module : modules_)
      for (const auto& slot : module->slots)
        if (!slot.name.empty()) names.insert(slot.name);
    return {names.begin(), names.end()};
  }

  std::span<const ModuleTables* const> modules_;
  const ImportSelection& selection_;
  core::Findings& findings_;
  ImportResolver resolver_;
  TextBudget budget_;
  std::vector<u64> text_of_target_;
  ImportPlan plan_;
  std::vector<bool> matched_;               // by glob of a function
  std::vector<std::set<u32>> callers_;      // by module: the modules with slots that lead to it
  std::map<u32, std::set<u32>> importers_;  // of the selected targets
  std::vector<u32> function_of_target_;
};

}  // namespace

bool ImportSelection::selects_module(std::string_view name) const {
  return modules.empty() || matches_any(modules, name, GlobCase::insensitive);
}

std::vector<u32> IndirectCallers::path_from(u32 module) const {
  std::vector<u32> path{module};
  while (next[path.back()] != none) path.push_back(next[path.back()]);
  return path;
}

bool is_dynamic_lookup(std::string_view function) {
  return std::binary_search(dynamic_lookups.begin(), dynamic_lookups.end(), function);
}

ImportPlan make_import_plan(std::span<const ModuleTables* const> modules,
                            const ApiSetSchema* schema, const ImportSelection& selection,
                            core::Findings& findings) {
  return Planner{modules, schema, selection, findings}.make();
}

std::vector<std::string> find_absent_dlls(std::span<const ModuleTables* const> modules,
                                          const ApiSetSchema* schema) {
  ImportResolver resolver{modules, schema};
  for (u32 module = 0; module < modules.size(); ++module) resolver.resolve(module);
  std::set<std::string> absent;
  for (const auto& target : resolver.targets())
    if (!target.module && !target.dll.empty()) absent.emplace(target.dll);
  return {absent.begin(), absent.end()};
}

}  // namespace coldtrace::pe
