#include "coldtrace/schema_files/schema_files.hpp"

#include <algorithm>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/instrumentation_manifest.hpp"
#include "schema-files/file_walk.hpp"
#include "schema-files/manifest_file.hpp"
#include "schema-files/module_file.hpp"

namespace coldtrace::schema_files {
namespace {

using tracefile::SchemaKey;

// Files that are asked for one provider: copies of a whole Windows have dozens.
constexpr std::size_t most_files_of_provider = 256;

// The first bytes of a regular file; nothing of what is none, or cannot be read.
std::optional<std::vector<std::byte>> read_start(const std::string& path, std::size_t most) {
  const auto file = core::FileImage::open(path);
  if (!file) return std::nullopt;
  std::vector<std::byte> start(std::min<u64>((*file)->size(), most));
  if (!(*file)->read_at(0, start)) return std::nullopt;
  return start;
}

// Null for a file that declares nothing, and `why`.
std::shared_ptr<const DeclaringFile> find_file(const std::string& path, std::string& why) {
  constexpr std::string_view pe_magic = "MZ";
  auto start = read_start(path, pe_magic.size());
  if (!start || core::to_chars(*start) == pe_magic) {
    auto module = SchemaModule::find(path, &why);
    return module ? std::make_shared<const ModuleFile>(std::move(*module)) : nullptr;
  }
  why = "neither a PE file nor an instrumentation manifest";
  start = read_start(path, tracefile::InstrumentationManifest::likely_size);
  return start ? ManifestFile::find(path, *start, why) : nullptr;
}

}  // namespace

void SchemaFiles::add(const std::string& path, core::Findings& findings) {
  const auto paths = list_files(path, findings);
  const bool is_file = paths.size() == 1 && paths.front() == path;
  for (const auto& one : paths) {
    std::string why;
    auto file = find_file(one, why);
    if (!file) {
      if (is_file) findings.warning("schema-file", std::nullopt, "{}: {}", one, why);
      continue;
    }
    const auto guids = file->providers();
    for (const auto& guid : std::set<core::Guid>{guids.begin(), guids.end()})
      by_provider_[guid].push_back(files_.size());
    files_.push_back(std::move(file));
  }
}

std::shared_ptr<const FileSchemas> SchemaFiles::read(const std::set<SchemaKey>& events,
                                                     const std::vector<std::string>& languages,
                                                     core::Findings& findings) const {
  auto schemas = std::make_shared<FileSchemas>();
  LanguageFolders folders;
  std::map<std::size_t, std::unique_ptr<OpenFile>> open;  // by index, which is their order
  std::map<std::size_t, FileSchemas::File> used;
  for (auto first = events.begin(); first != events.end();) {
    const auto& provider = first->provider;
    const auto end = std::find_if(
        first, events.end(), [&](const SchemaKey& other) { return other.provider != provider; });
    for (const auto index : files_of(provider, findings)) {
      auto& file = open[index];
      if (!file) file = files_[index]->open({languages, folders, findings});
      auto* const declared = file->find(provider);
      if (declared == nullptr) continue;
      schemas->add(*declared);
      FileSchemas::Provider told{provider, declared->name(), files_[index]->is_recreated(provider)};
      for (auto event = first; event != end; ++event)
        if (auto schema = declared->find(event->id, event->version);
            schema && schemas->add(*event, std::move(schema), told.recreated, findings))
          ++told.kinds;
      if (told.kinds > 0) used[index].providers.push_back(std::move(told));
    }
    first = end;
  }
  for (auto& [index, file] : used) {
    file.path = files_[index]->path();
    file.version = files_[index]->version();
    file.language_file = open[index]->language_file();
    schemas->files_.push_back(std::move(file));
  }
  return schemas;
}

std::vector<std::size_t> SchemaFiles::files_of(const core::Guid& provider,
                                               core::Findings& findings) const {
  const auto known = by_provider_.find(provider);
  if (known == by_provider_.end()) return {};
  auto files = known->second;
  std::stable_partition(files.begin(), files.end(),
                        [&](std::size_t index) { return !files_[index]->is_recreated(provider); });
  if (files.size() <= most_files_of_provider) return files;
  findings.warning("schema-limit", std::nullopt,
                   "{} files declare the provider {}; the first {} are read", files.size(),
                   core::to_string(provider), most_files_of_provider);
  files.resize(most_files_of_provider);
  return files;
}

}  // namespace coldtrace::schema_files
