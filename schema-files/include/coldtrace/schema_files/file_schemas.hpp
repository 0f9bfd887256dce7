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

// What files declare about the events of one trace. Immutable, so that several threads can use it.
class FileSchemas final : public tracefile::SchemaSource {
 public:
  struct Provider {
    core::Guid guid;
    std::string name;
    bool recreated = false;  // by a tool, from what Windows says of the provider
    u64 kinds = 0;           // kinds of the trace's events that the file is the first to declare so
    u64 behind = 0;          // those of them that the trace itself or coldtrace's table has as well
  };
  // A file that declares an event of the trace as no preferred file does.
  struct File {
    std::string path;
    std::optional<std::string> version;
    std::string language_file;  // with its texts; empty: none needed, or none found
    std::string store;          // the store with its declarations; empty: the file itself is read
    std::string sha256;         // of the file, as stored; empty without a store
    std::vector<Provider> providers;
  };

  [[nodiscard]] std::shared_ptr<const tracefile::EventSchema> find(
      const tracefile::SchemaKey& key) const override;
  [[nodiscard]] std::string_view find_provider_name(const core::Guid& provider) const override;
  [[nodiscard]] std::vector<std::shared_ptr<const tracefile::EventSchema>> find_others(
      const tracefile::SchemaKey& key) const override;
  [[nodiscard]] std::shared_ptr<const tracefile::ProviderNames> find_names(
      const core::Guid& provider) const override;

  // In the order of preference.
  [[nodiscard]] const std::vector<File>& files() const { return files_; }

 private:
  friend class SchemaFiles;

  struct Known {
    // Those with different fields, the preferred first; `rank` is its rank.
    std::vector<std::shared_ptr<const tracefile::EventSchema>> schemas;
    SchemaRank rank = SchemaRank::other;
  };

  // Names that differ from those of an earlier file are a finding.
  void add(const std::string& file, const tracefile::ProviderSchemas& declared,
           core::Findings& findings);
  // False if an earlier schema has the same fields; differences in fields, names and messages are a
  // finding. Between builds they are not a conflict, and re-created schemas lack output types.
  bool add(const tracefile::SchemaKey& event, std::shared_ptr<const tracefile::EventSchema> schema,
           SchemaRank rank, core::Findings& findings);

  struct Declared {
    std::string name;
    std::shared_ptr<const tracefile::ProviderNames> names;
    std::string file;  // where the names are from
  };

  std::map<tracefile::SchemaKey, Known> schemas_;
  std::map<core::Guid, Declared> providers_;
  std::vector<File> files_;
};

}  // namespace coldtrace::schema_files
