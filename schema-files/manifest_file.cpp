#include "schema-files/manifest_file.hpp"

#include <map>

#include "coldtrace/tracefile/instrumentation/instrumentation_manifest.hpp"

namespace coldtrace::schema_files {
namespace {

using tracefile::InstrumentationManifest;

core::Result<InstrumentationManifest> read_manifest(const std::string& path, const FileTree& tree,
                                                    const std::vector<std::string>& languages) {
  const auto file = COLDTRACE_TRY(tree.open(path, InstrumentationManifest::largest));
  const auto view = file->view();
  const auto bytes = view.all();
  if (!bytes && view.error() != nullptr) return core::fail(*view.error());
  if (!bytes) return core::fail({core::Fault::truncated, 0, "manifest", "bytes", view.size(), 0});
  return InstrumentationManifest::read(*bytes, 0, languages);
}

class OpenManifest final : public OpenFile {
 public:
  OpenManifest(const ManifestFile& file, const ReadContext& context)
      : file_{file}, findings_{context.findings} {
    auto manifest = read_manifest(file.path(), context.folders.tree(), context.languages);
    if (!manifest) {
      own_.warning("schema-damaged", manifest.error());
      return;
    }
    manifest_ = std::move(*manifest);
    for (const auto& damage : manifest_->text_damage())
      own_.warning("schema-damaged", damage.offset, "{}", damage.text);
  }
  ~OpenManifest() override { tell_of_file(file_.path(), own_, findings_); }

  tracefile::ProviderSchemas* find(const core::Guid& provider) override {
    if (!manifest_) return nullptr;
    const auto [place, is_new] = providers_.try_emplace(provider);
    if (!is_new) return place->second.get();
    place->second = manifest_->find(provider, {file_.path()}, own_);
    if (file_.is_recreated(provider))
      own_.info("schema-lossy", std::nullopt,
                "a tool generated the manifest of {} from what Windows reports about the provider: "
                "output types, lengths and structures may be missing",
                core::to_string(provider));
    return place->second.get();
  }

  std::string language_file() const override { return {}; }
  std::string language() const override {
    return manifest_ ? manifest_->language() : std::string{};
  }
  std::optional<bool> lacks_languages() const override {
    return manifest_ ? manifest_->lacks_languages() : std::nullopt;
  }

 private:
  const ManifestFile& file_;
  core::Findings own_;
  std::optional<InstrumentationManifest> manifest_;
  std::map<core::Guid, std::unique_ptr<tracefile::ProviderSchemas>> providers_;
  core::Findings& findings_;
};

}  // namespace

core::Result<std::shared_ptr<const ManifestFile>> ManifestFile::read(const std::string& path,
                                                                     const FileTree& tree) {
  const auto manifest = read_manifest(path, tree, {});
  if (!manifest) return core::fail(manifest.error());
  auto file = std::make_shared<ManifestFile>();
  file->path_ = path;
  file->providers_ = manifest->providers();
  for (const auto& provider : file->providers_)
    if (manifest->is_recreated(provider)) file->recreated_.insert(provider);
  return file;
}

std::unique_ptr<OpenFile> ManifestFile::open(const ReadContext& context) const {
  return std::make_unique<OpenManifest>(*this, context);
}

}  // namespace coldtrace::schema_files
