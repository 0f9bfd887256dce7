#pragma once

#include <set>

#include "schema-files/declaring_file.hpp"

namespace coldtrace::schema_files {

// An instrumentation manifest (.man).
class ManifestFile final : public DeclaringFile {
 public:
  static core::Result<std::shared_ptr<const ManifestFile>> read(const std::string& path,
                                                                const FileTree& tree);

  const std::string& path() const override { return path_; }
  std::vector<core::Guid> providers() const override { return providers_; }
  std::optional<std::string> version() const override { return std::nullopt; }
  bool is_recreated(const core::Guid& provider) const override {
    return recreated_.contains(provider);
  }
  std::unique_ptr<OpenFile> open(const ReadContext& context) const override;

 private:
  std::string path_;
  std::vector<core::Guid> providers_;
  std::set<core::Guid> recreated_;
};

}  // namespace coldtrace::schema_files
