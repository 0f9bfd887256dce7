#include "schema-files/stored_file.hpp"

#include <map>

namespace coldtrace::schema_files {
namespace {

class OpenStored final : public OpenFile {
 public:
  OpenStored(const StoredFile& file, const ReadContext& context)
      : file_{file}, languages_{context.languages}, findings_{context.findings} {}

  tracefile::ProviderSchemas* find(const core::Guid& provider) override {
    const auto [place, is_new] = providers_.try_emplace(provider);
    if (!is_new) return place->second.get();
    const auto* const row = file_.find_row(provider);
    if (row == nullptr) return nullptr;
    auto read = file_.whole().read(*row, file_.path());
    if (read)
      place->second = std::move(*read);
    else
      findings_.warning("schema-damaged", read.error().offset, "{}: {}", file_.store(),
                        read.error());
    return place->second.get();
  }

  std::string language_file() const override { return file_.file().language_file; }
  std::string language() const override { return file_.file().language; }
  // A module's own table does not tell its language.
  std::optional<bool> lacks_languages() const override {
    if (language().empty()) return std::nullopt;
    return !LanguageFolders::is_one(language(), languages_);
  }

 private:
  const StoredFile& file_;
  const std::vector<std::string>& languages_;
  core::Findings& findings_;
  std::map<core::Guid, std::unique_ptr<tracefile::ProviderSchemas>> providers_;
};

}  // namespace

std::vector<std::shared_ptr<const DeclaringFile>> StoredFile::all_of(
    const std::string& path, const std::shared_ptr<const SchemaStore>& store) {
  std::vector<std::shared_ptr<StoredFile>> files(store->files().size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i] = std::make_shared<StoredFile>();
    files[i]->store_path_ = path;
    files[i]->store_ = store;
    files[i]->index_ = i;
  }
  const auto& rows = store->providers();
  for (std::size_t i = 0; i < rows.size(); ++i) files[rows[i].file]->rows_.push_back(i);
  return {files.begin(), files.end()};
}

std::vector<core::Guid> StoredFile::providers() const {
  std::vector<core::Guid> guids;
  for (const auto row : rows_) guids.push_back(store_->providers()[row].guid);
  return guids;
}

std::optional<std::string> StoredFile::version() const {
  return file().version.empty() ? std::nullopt : std::optional{file().version};
}

const SchemaStore::Provider* StoredFile::find_row(const core::Guid& provider) const {
  for (const auto index : rows_)
    if (const auto& row = store_->providers()[index]; row.guid == provider) return &row;
  return nullptr;
}

bool StoredFile::is_recreated(const core::Guid& provider) const {
  const auto* const row = find_row(provider);
  return row != nullptr && row->recreated;
}

std::unique_ptr<OpenFile> StoredFile::open(const ReadContext& context) const {
  return std::make_unique<OpenStored>(*this, context);
}

}  // namespace coldtrace::schema_files
