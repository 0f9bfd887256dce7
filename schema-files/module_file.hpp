#pragma once

#include "schema-files/declaring_file.hpp"
#include "schema-files/schema_module.hpp"

namespace coldtrace::schema_files {

// A PE file with a WEVT_TEMPLATE resource.
class ModuleFile final : public DeclaringFile {
 public:
  explicit ModuleFile(SchemaModule module) : module_{std::move(module)} {}

  const std::string& path() const override { return module_.path; }
  std::vector<core::Guid> providers() const override { return module_.providers; }
  std::optional<std::string> version() const override { return module_.file_version(); }
  bool is_recreated(const core::Guid&) const override { return false; }
  std::unique_ptr<OpenFile> open(const ReadContext& context) const override;

 private:
  SchemaModule module_;
};

}  // namespace coldtrace::schema_files
