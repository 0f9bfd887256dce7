#include "coldtrace/pe/module_set.hpp"

#include <algorithm>
#include <set>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/pe/import_plan.hpp"

namespace coldtrace::pe {
namespace {

constexpr std::string_view schema_file = "apisetschema.dll";

// Of the file, as the loader compares it.
std::string name_of(const std::string& path) {
  return core::to_lower(path.substr(path.rfind('/') + 1));
}

}  // namespace

void ModuleSet::add_file(const std::string& path) {
  const auto [entry, added] = files_.try_emplace(name_of(path), path);
  if (!added)
    findings.info("module-twice", std::nullopt, "{} is hidden by {}", path, entry->second);
}

void ModuleSet::read_all() {
  for (const auto& [name, path] : files_) read(path);
  sort();
}

bool ModuleSet::read_program(const std::string& path) {
  std::set<std::string> tried{name_of(path)};
  read(path);
  if (modules_.empty()) return false;
  std::vector<std::string> wanted{std::string{schema_file}};
  for (unsigned turn = 0; !wanted.empty(); ++turn) {
    if (turn == limits_.turns) {
      findings.warning("module-limit", std::nullopt, "DLLs need other DLLs {} levels deep",
                       limits_.turns);
      return true;
    }
    bool any = turn == 0;
    for (const auto& name : wanted)
      if (const auto file = files_.find(name); file != files_.end() && tried.insert(name).second) {
        read(file->second);
        any = true;
      }
    if (!any) return true;
    sort();
    wanted = find_absent_dlls(tables(), schema());
  }
  return true;
}

void ModuleSet::read(const std::string& path) {
  const bool has_schema = name_of(path) == schema_file;
  auto file = reader_(path, has_schema);
  if (file.unreadable) {
    findings.warning("module-unreadable", std::nullopt, "{}: {}", path, *file.unreadable);
    unreadable_.push_back({path, std::move(*file.unreadable)});
    return;
  }
  if (!file.tables) {
    ++other_files_;
    return;
  }
  const auto& tables = *file.tables;
  const u64 rows =
      tables.slots.size() + tables.exports.size() + tables.dlls.size() + tables.sections.size();
  if (modules_.size() == limits_.modules || rows > limits_.rows - rows_ ||
      tables.text.size() > limits_.text - text_) {
    findings.warning("module-limit", std::nullopt,
                     "{} is left out: there are {} modules, {} rows and {} bytes of names", path,
                     modules_.size(), rows_, text_);
    return;
  }
  rows_ += rows;
  text_ += tables.text.size();
  if (has_schema) {
    if (file.schema) schema_path_ = path;
    schema_ = std::move(file.schema);
  }
  modules_.push_back({path, std::move(*file.tables), std::move(file.findings)});
}

void ModuleSet::sort() {
  std::sort(modules_.begin(), modules_.end(), [](const SetModule& a, const SetModule& b) {
    return core::to_lower(a.tables.name) < core::to_lower(b.tables.name);
  });
}

std::vector<const ModuleTables*> ModuleSet::tables() const {
  std::vector<const ModuleTables*> tables;
  for (const auto& module : modules_) tables.push_back(&module.tables);
  return tables;
}

ModuleFile read_module_file(const Image& image, std::string_view name, bool has_schema,
                            core::Findings& findings) {
  ModuleFile file;
  file.tables = read_module_tables(image, name, findings);
  if (!has_schema) return file;
  auto schema = find_api_set_schema(image, findings);
  if (!schema)
    findings.warning("api-set-schema", schema.error());
  else
    file.schema = std::move(*schema);
  return file;
}

}  // namespace coldtrace::pe
