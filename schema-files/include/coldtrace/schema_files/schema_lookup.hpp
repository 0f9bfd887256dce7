#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "coldtrace/schema_files/schema_files.hpp"

namespace coldtrace::schema_files {

// What files declare, of providers that nobody knows before: each is read when the first event of
// it is asked for, and kept. For events that come one by one, as decode_event() has them; a trace
// is served better by SchemaFiles::read(). Several threads can ask.
class SchemaLookup final : public tracefile::SchemaSource {
 public:
  // `windows` is the build whose events are asked for, where it is known.
  SchemaLookup(SchemaFiles files, std::vector<std::string> languages,
               std::optional<WindowsBuild> windows = std::nullopt);

  [[nodiscard]] std::shared_ptr<const tracefile::EventSchema> find(
      const tracefile::SchemaKey& key) const override;
  [[nodiscard]] std::string_view find_provider_name(const core::Guid& provider) const override;
  [[nodiscard]] std::vector<std::shared_ptr<const tracefile::EventSchema>> find_others(
      const tracefile::SchemaKey& key) const override;
  [[nodiscard]] std::shared_ptr<const tracefile::ProviderNames> find_names(
      const core::Guid& provider) const override;

  // Of all providers so far.
  [[nodiscard]] core::Findings findings() const;

 private:
  // Null where no file declares it.
  std::shared_ptr<const FileSchemas> schemas_of(const core::Guid& provider) const;

  SchemaFiles files_;
  std::vector<std::string> languages_;
  std::optional<WindowsBuild> windows_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::map<core::Guid, std::shared_ptr<const FileSchemas>> read_;
  mutable core::Findings findings_;
};

}  // namespace coldtrace::schema_files
