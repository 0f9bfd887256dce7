#include "coldtrace/syscall-map/servicing/import_comparison.hpp"

#include <algorithm>
#include <iterator>

#include "coldtrace/core/ascii.hpp"

namespace coldtrace::syscall_map {
namespace {

using Functions = std::vector<ComparedImport>;

Functions without(const Functions& all, const Functions& others) {
  Functions left;
  std::set_difference(all.begin(), all.end(), others.begin(), others.end(),
                      std::back_inserter(left));
  return left;
}

u64 count(const ImageImports& imports) {
  u64 sum = 0;
  for (const auto& [dll, functions] : imports) sum += functions.size();
  return sum;
}

void add(ImportComparison& comparison, const std::string& dll, const Functions& before,
         const Functions& after) {
  DllChange change{dll, before.size(), after.size(), without(after, before),
                   without(before, after)};
  if (change.added.empty() && change.removed.empty()) return;
  comparison.added += change.added.size();
  comparison.removed += change.removed.size();
  comparison.dlls.push_back(std::move(change));
}

}  // namespace

ImageImports list_imports(const pe::Image& image, core::Findings& findings) {
  ImageImports imports;
  const auto add_modules = [&](const std::vector<pe::ImportedModule>& modules) {
    for (const auto& module : modules) {
      auto& functions = imports[core::to_lower(module.name)];
      for (const auto& function : module.functions)
        if (function.by_ordinal || !function.name.empty())
          functions.push_back({std::string{function.name},
                               function.by_ordinal ? std::optional{function.ordinal} : std::nullopt,
                               module.delayed});
    }
  };
  add_modules(pe::read_imports(image, findings));
  add_modules(pe::read_delay_imports(image, findings));
  for (auto& [dll, functions] : imports) {
    std::sort(functions.begin(), functions.end());
    functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
  }
  return imports;
}

ImportComparison compare_imports(const ImageImports& before, const ImageImports& after) {
  static const Functions none;
  ImportComparison comparison;
  comparison.before = count(before);
  comparison.after = count(after);
  for (const auto& [dll, functions] : before) {
    const auto other = after.find(dll);
    add(comparison, dll, functions, other == after.end() ? none : other->second);
  }
  for (const auto& [dll, functions] : after)
    if (!before.contains(dll)) add(comparison, dll, none, functions);
  std::stable_sort(comparison.dlls.begin(), comparison.dlls.end(),
                   [](const DllChange& a, const DllChange& b) { return a.dll < b.dll; });
  return comparison;
}

}  // namespace coldtrace::syscall_map
