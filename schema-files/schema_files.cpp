#include "coldtrace/schema_files/schema_files.hpp"

#include <algorithm>

#include "coldtrace/schema_files/module_messages.hpp"
#include "coldtrace/tracefile/wevt_schemas.hpp"
#include "schema-files/file_walk.hpp"

namespace coldtrace::schema_files {
namespace {

using tracefile::SchemaKey;
using tracefile::WevtSchemas;

// Files that are asked for one provider: copies of a whole Windows have dozens.
constexpr std::size_t most_files_of_provider = 256;

// One module that is read, with what its schemas are views of.
class OpenModule {
 public:
  OpenModule(const SchemaModule& module, const std::vector<std::string>& languages,
             LanguageFolders& folders, core::Findings& findings)
      : path_{module.path},
        messages_{module.path, languages, folders, of_messages_},
        findings_{findings} {
    auto bytes = module.read();
    if (!bytes) {
      findings.warning("schema-file", std::nullopt, "{}: {}", path_, bytes.error());
      return;
    }
    bytes_ = std::move(*bytes);
    auto resource = tracefile::WevtResource::read(bytes_, module.offset, of_resource_);
    if (resource)
      resource_ = std::move(*resource);
    else
      of_resource_.warning("schema-damaged", resource.error());
  }
  OpenModule(const OpenModule&) = delete;
  OpenModule& operator=(const OpenModule&) = delete;
  ~OpenModule() {
    tell("schema-damaged", of_resource_);
    tell("schema-messages", of_messages_);
  }

  // Null where the module does not have the provider, or it is damaged.
  WevtSchemas* find(const core::Guid& provider) {
    const auto [place, is_new] = providers_.try_emplace(provider);
    if (!is_new) return place->second.get();
    for (const auto& own : resource_.providers) {
      if (own.guid != provider) continue;
      auto read = WevtSchemas::read(resource_, own, {path_, &messages_}, of_resource_);
      if (read)
        place->second = std::move(*read);
      else
        of_resource_.warning("schema-damaged", read.error());
      break;
    }
    return place->second.get();
  }

  const std::string& language_file() const { return messages_.language_file(); }

 private:
  // Findings of a file, told under its path.
  void tell(core::Name code, const core::Findings& found) {
    for (const auto& finding : found.all()) {
      if (finding.severity == core::Severity::warning)
        findings_.warning(code, finding.first_offset, "{}: {}", path_, finding.text);
      else
        findings_.info(finding.code, finding.first_offset, "{}: {}", path_, finding.text);
    }
  }

  std::string path_;
  core::Findings of_resource_, of_messages_;
  ModuleMessages messages_;
  std::vector<std::byte> bytes_;
  tracefile::WevtResource resource_;
  std::map<core::Guid, std::unique_ptr<WevtSchemas>> providers_;
  core::Findings& findings_;
};

}  // namespace

void SchemaFiles::add(const std::string& path, core::Findings& findings) {
  const auto files = list_files(path, findings);
  const bool is_file = files.size() == 1 && files.front() == path;
  for (const auto& file : files) {
    std::string why;
    auto module = SchemaModule::find(file, &why);
    if (!module) {
      if (is_file) findings.warning("schema-file", std::nullopt, "{}: {}", file, why);
      continue;
    }
    const std::set<core::Guid> guids{module->providers.begin(), module->providers.end()};
    for (const auto& guid : guids) by_provider_[guid].push_back(modules_.size());
    modules_.push_back(std::move(*module));
  }
}

std::shared_ptr<const FileSchemas> SchemaFiles::read(const std::set<SchemaKey>& events,
                                                     const std::vector<std::string>& languages,
                                                     core::Findings& findings) const {
  auto schemas = std::make_shared<FileSchemas>();
  LanguageFolders folders;
  std::map<std::size_t, std::unique_ptr<OpenModule>> open;  // by index, which is their order
  std::map<std::size_t, FileSchemas::File> used;
  for (auto first = events.begin(); first != events.end();) {
    const auto& provider = first->provider;
    const auto end = std::find_if(
        first, events.end(), [&](const SchemaKey& other) { return other.provider != provider; });
    for (const auto index : files_of(provider, findings)) {
      auto& module = open[index];
      if (!module)
        module = std::make_unique<OpenModule>(modules_[index], languages, folders, findings);
      auto* const declared = module->find(provider);
      if (declared == nullptr) continue;
      schemas->add(*declared);
      FileSchemas::Provider told{provider, declared->name()};
      for (auto event = first; event != end; ++event)
        if (auto schema = declared->find(event->id, event->version);
            schema && schemas->add(*event, std::move(schema), findings))
          ++told.kinds;
      if (told.kinds > 0) used[index].providers.push_back(std::move(told));
    }
    first = end;
  }
  for (auto& [index, file] : used) {
    file.path = modules_[index].path;
    file.version = modules_[index].file_version();
    file.language_file = open[index]->language_file();
    schemas->files_.push_back(std::move(file));
  }
  return schemas;
}

std::span<const std::size_t> SchemaFiles::files_of(const core::Guid& provider,
                                                   core::Findings& findings) const {
  const auto known = by_provider_.find(provider);
  if (known == by_provider_.end()) return {};
  const std::span<const std::size_t> files{known->second};
  if (files.size() <= most_files_of_provider) return files;
  findings.warning("schema-limit", std::nullopt,
                   "{} files declare the provider {}; the first {} are read", files.size(),
                   core::to_string(provider), most_files_of_provider);
  return files.first(most_files_of_provider);
}

}  // namespace coldtrace::schema_files
