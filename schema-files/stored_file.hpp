#pragma once

#include "coldtrace/schema_files/schema_store.hpp"
#include "schema-files/declaring_file.hpp"

namespace coldtrace::schema_files {

// What a store holds of one file.
class StoredFile final : public DeclaringFile {
 public:
  // All files of the store, in its order. `path` is that of the store.
  static std::vector<std::shared_ptr<const DeclaringFile>> all_of(
      const std::string& path, const std::shared_ptr<const SchemaStore>& store);

  const std::string& path() const override { return file().path; }
  std::vector<core::Guid> providers() const override;
  std::optional<std::string> version() const override;
  bool is_recreated(const core::Guid& provider) const override;
  std::unique_ptr<OpenFile> open(const ReadContext& context) const override;
  std::string store() const override { return store_path_; }
  std::string sha256() const override { return file().sha256; }

  // The first record of the provider; null where there is none.
  const SchemaStore::Provider* find_row(const core::Guid& provider) const;
  const SchemaStore& whole() const { return *store_; }
  const SchemaStore::File& file() const { return store_->files()[index_]; }

 private:
  std::string store_path_;
  std::shared_ptr<const SchemaStore> store_;
  std::size_t index_ = 0;
  std::vector<std::size_t> rows_;  // indexes into the store's providers
};

}  // namespace coldtrace::schema_files
