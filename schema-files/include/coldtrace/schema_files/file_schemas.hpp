#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/schema_files/windows_build.hpp"
#include "coldtrace/tracefile/fields/schema_source.hpp"
#include "coldtrace/tracefile/instrumentation/provider_schemas.hpp"

namespace coldtrace::schema_files {

// What files declare of the events of one trace. Complete when made, so that several threads can
// ask.
class FileSchemas final : public tracefile::SchemaSource {
 public:
  struct Provider {
    core::Guid guid;
    std::string name;
    bool recreated = false;  // by a tool, from what Windows tells of the provider
    u64 kinds = 0;           // of events of the trace that the file declares as none before it
    u64 behind = 0;  // of them, those that the trace itself or coldtrace's table has as well
  };
  // A file that declares an event of the trace as no file before it does.
  struct File {
    std::string path;
    std::optional<std::string> version;
    std::string language_file;  // with its texts; empty: none was needed, or is there
    std::string store;          // that holds what the file declares; empty: it is read itself
    std::string sha256;         // of the file, as the store has it; else empty
    std::vector<Provider> providers;
  };

  [[nodiscard]] std::shared_ptr<const tracefile::EventSchema> find(
      const tracefile::SchemaKey& key) const override;
  [[nodiscard]] std::string_view find_provider_name(const core::Guid& provider) const override;
  [[nodiscard]] std::vector<std::shared_ptr<const tracefile::EventSchema>> find_others(
      const tracefile::SchemaKey& key) const override;
  [[nodiscard]] std::shared_ptr<const tracefile::ProviderNames> find_names(
      const core::Guid& provider) const override;

  // In the order in which they go first.
  [[nodiscard]] const std::vector<File>& files() const { return files_; }

 private:
  friend class SchemaFiles;

  struct Known {
    // Those with different fields, the preferred first, which has the rank.
    std::vector<std::shared_ptr<const tracefile::EventSchema>> schemas;
    SchemaRank rank = SchemaRank::other;
  };

  // Other names than those of an earlier file are a finding.
  void add(const std::string& file, const tracefile::ProviderSchemas& declared,
           core::Findings& findings);
  // False for one whose fields are those of an earlier one; other fields, names and messages are a
  // finding. Between builds that is not a conflict, and one that was re-created lacks output types.
  bool add(const tracefile::SchemaKey& event, std::shared_ptr<const tracefile::EventSchema> schema,
           SchemaRank rank, core::Findings& findings);

  struct Declared {
    std::string name;
    std::shared_ptr<const tracefile::ProviderNames> names;
    std::string file;  // that the names are of
  };

  std::map<tracefile::SchemaKey, Known> schemas_;
  std::map<core::Guid, Declared> providers_;
  std::vector<File> files_;
};

}  // namespace coldtrace::schema_files
