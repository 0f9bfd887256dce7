#include "cli/hooks/iat/module_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/command/each_file.hpp"
#include "cli/images/module_input.hpp"
#include "cli/images/other_kind.hpp"
#include "coldtrace/core/folder_files.hpp"

namespace coldtrace::cli {
namespace fs = std::filesystem;

u64 add_folder(pe::ModuleSet& set, const std::string& folder) {
  const auto entries = core::list_folder(folder);
  if (!entries) throw Failure{fmt::format("{}: {}", folder, entries.error().message())};
  std::vector<std::string> files;
  for (const auto& entry : *entries) {
    std::error_code unknown;
    // What cannot be asked what it is, such as a link to nowhere, is told of when it is read.
    if (entry.is_regular_file(unknown) || unknown) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) set.add_file(file);
  return size_of_files(files);
}

std::string why_no_module(const std::string& path) {
  const auto file = core::LazyFile::open(path, largest_image);
  if (!file) return to_message(file.error());
  return describe_other(core::recognize_file(core::FileView{**file}), "a PE image");
}

pe::ModuleFile ModuleFiles::read(const std::string& path, bool has_schema) {
  std::optional<std::string> unreadable;
  auto input = open_module(path, options_, unreadable);
  if (!input) return {.tables = {}, .schema = {}, .findings = {}, .unreadable = unreadable};
  const auto name = fs::path{path}.filename().string();
  auto file = pe::read_module_file(input->image, name, has_schema, input->findings());
  if (shown_.functions.empty() && shown_.selects_module(name))
    identities_.insert_or_assign(path, identify(*input, options_));
  file.findings = std::move(input->findings());
  return file;
}

void ModuleFiles::identify_module(pe::SetModule& module) {
  if (identities_.contains(module.path)) return;
  std::optional<std::string> unreadable;
  auto input = open_module(module.path, options_, unreadable);
  if (!input) throw Failure{fmt::format("{}: it changed while it was read", module.path)};
  identities_.emplace(module.path, identify(*input, options_));
  module.findings.merge_unknown(input->findings());
}

}  // namespace coldtrace::cli
