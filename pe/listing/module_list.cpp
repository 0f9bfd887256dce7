#include "coldtrace/pdb/module_list.hpp"

#include <utility>

#include "coldtrace/core/no_match.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/pdb_modules.hpp"
#include "pe/listing/named_entries.hpp"
#include "pe/listing/text_room.hpp"

namespace coldtrace::pe {
namespace {

// The texts of a call that there is room for.
BuildInfo take(const BuildInfo& build, TextRoom& room) {
  const auto keep = [&](const std::optional<std::string>& text) -> std::optional<std::string> {
    auto kept = room.take(text.value_or(std::string{}));
    return kept.empty() ? std::nullopt : std::optional{std::move(kept)};
  };
  return {keep(build.directory), keep(build.tool), keep(build.source), keep(build.type_file),
          keep(build.arguments)};
}

}  // namespace

std::vector<ListedModule> list_modules(const SymbolFile& file, std::span<const std::string> names,
                                       core::Findings& findings) {
  std::vector<ListedModule> modules;
  if (!file.pdb) {
    core::NoMatch missing;
    missing.add_sentence("symbol tables have no modules");
    missing.report(findings);
    return modules;
  }
  TextRoom room{file};
  const auto ids = IdTable::read(*file.pdb, findings);
  auto compilers = read_module_compilers(*file.pdb, findings);
  core::Findings known;  // told by the search for compilers
  for (auto& module : read_modules(*file.pdb, known)) {
    ListedModule listed{.index = modules.size(),
                        .name = std::move(module.name),
                        .object = std::move(module.object),
                        .symbol_bytes = module.stream ? module.symbol_bytes : 0,
                        .source_files = module.source_files};
    if (const auto found = compilers.find(listed.index); found != compilers.end()) {
      if (const auto record = found->second.build_record)
        if (const auto build = ids.find_build(*record)) listed.build = take(*build, room);
      listed.compiler = std::move(found->second);
    }
    modules.push_back(std::move(listed));
  }
  const auto contributions = SectionContributions::read(*file.pdb, findings);
  u64 lost = 0;
  for (const auto& one : contributions.all())
    one.module < modules.size() ? modules[one.module].contributions.push_back(one) : void(++lost);
  if (lost > 0)
    findings.warning("pdb-stream", std::nullopt, "{} not listed",
                     core::counted(lost, "section contribution belongs to a module that is",
                                   "section contributions belong to modules that are"));
  room.report(findings);
  keep_named(modules, "module", names, findings);
  return modules;
}

}  // namespace coldtrace::pe
