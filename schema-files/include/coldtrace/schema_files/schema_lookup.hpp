#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "coldtrace/schema_files/schema_files.hpp"

namespace coldtrace::schema_files {

// What files declare, for providers that are not known in advance: each is read when its first
// event is asked for, and kept. For events that arrive one by one, as with decode_event(); for a
// whole trace SchemaFiles::read() is better. Safe to use from several threads.
class SchemaLookup final : public tracefile::SchemaSource {
 public:
  // `windows` is the build whose events are asked for, if known.
  SchemaLookup(SchemaFiles files, std::vector<std::string> languages,
               std::optional<WindowsBuild> windows = std::nullopt);

  [[nodiscard]] std::shared_ptr<const tracefile::EventSchema> find(
      const tracefile::SchemaKey& key) const override;
  [[nodiscard]] std::string_view find_provider_name(const core::Guid& provider) const override;
  [[nodiscard]] std::vector<std::shared_ptr<const tracefile::EventSchema>> find_others(
      const tracefile::SchemaKey& key) const override;
  [[nodiscard]] std::shared_ptr<const tracefile::ProviderNames> find_names(
      const core::Guid& provider) const override;

  // Those of all providers read so far.
  [[nodiscard]] core::Findings findings() const;

 private:
  // Null if no file declares it.
  std::shared_ptr<const FileSchemas> schemas_of(const core::Guid& provider) const;

  SchemaFiles files_;
  std::vector<std::string> languages_;
  std::optional<WindowsBuild> windows_;
  mutable std::mutex mutex_;  // for the members below
  mutable std::map<core::Guid, std::shared_ptr<const FileSchemas>> read_;
  mutable core::Findings findings_;
};

}  // namespace coldtrace::schema_files
