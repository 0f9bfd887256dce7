#include "schema-files/module_file.hpp"

#include <map>

#include "coldtrace/schema_files/module_messages.hpp"
#include "coldtrace/tracefile/instrumentation/wevt_schemas.hpp"

namespace coldtrace::schema_files {
namespace {

using tracefile::WevtSchemas;

// One module that is read, with what its schemas are views of.
class OpenModule final : public OpenFile {
 public:
  OpenModule(const SchemaModule& module, const ReadContext& context)
      : path_{module.path},
        version_{module.file_version().value_or(std::string{})},
        messages_{module.path, context.languages, context.folders, of_messages_},
        findings_{context.findings} {
    auto bytes = module.read();
    if (!bytes) {
      findings_.warning("schema-file", std::nullopt, "{}: {}", path_, bytes.error());
      return;
    }
    bytes_ = std::move(*bytes);
    auto resource = tracefile::WevtResource::read(bytes_, module.offset, of_resource_);
    if (resource)
      resource_ = std::move(*resource);
    else
      of_resource_.warning("schema-damaged", resource.error());
  }
  ~OpenModule() override {
    tell_of_file(path_, of_resource_, findings_);
    for (auto finding : of_messages_.all()) {
      if (finding.severity != core::Severity::warning) continue;
      const auto code = finding.code.view();
      // Names its file: the one of the texts, the module, or both if neither can be read.
      if (code != "schema-file") finding.text = path_ + ": " + finding.text;
      // Message tables are also read for other ends, where their damage has codes of its own.
      if (code != "schema-file" && code != "folder-unreadable") finding.code = "schema-messages";
      findings_.merge(std::move(finding));
    }
  }

  tracefile::ProviderSchemas* find(const core::Guid& provider) override {
    const auto [place, is_new] = providers_.try_emplace(provider);
    if (!is_new) return place->second.get();
    for (const auto& own : resource_.providers) {
      if (own.guid != provider) continue;
      auto read = WevtSchemas::read(resource_, own, {path_, &messages_, version_}, of_resource_);
      if (read)
        place->second = std::move(*read);
      else
        of_resource_.warning("schema-damaged", read.error());
      break;
    }
    return place->second.get();
  }

  std::string language_file() const override { return messages_.language_file(); }
  std::optional<bool> lacks_languages() const override { return messages_.lacks_languages(); }

 private:
  std::string path_, version_;
  core::Findings of_resource_, of_messages_;
  ModuleMessages messages_;
  std::vector<std::byte> bytes_;
  tracefile::WevtResource resource_;
  std::map<core::Guid, std::unique_ptr<WevtSchemas>> providers_;
  core::Findings& findings_;
};

}  // namespace

std::unique_ptr<OpenFile> ModuleFile::open(const ReadContext& context) const {
  return std::make_unique<OpenModule>(module_, context);
}

}  // namespace coldtrace::schema_files
