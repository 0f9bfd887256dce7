#pragma once

#include <map>
#include <memory>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/instrumentation/provider_schemas.hpp"
#include "tracefile/instrumentation/manifest_fields.hpp"

namespace coldtrace::tracefile {

// The events of one <provider> of a manifest. Templates and maps are read when they are first asked
// for.
class ManifestSchemas final : public ProviderSchemas {
 public:
  struct Options {
    std::string source;      // EventSchema::source
    std::size_t most_parts;  // fields, map entries and texts that are made
  };

  // `document` keeps what the node and the strings are of; `offset` is its place in the file.
  ManifestSchemas(std::shared_ptr<const void> document, const pugi::xml_node& provider,
                  const ManifestStrings& strings, u64 offset, Options options,
                  core::Findings& findings);

  const core::Guid& guid() const override { return guid_; }
  const std::string& name() const override { return name_; }
  const ProviderNames& names() const override { return names_; }
  std::shared_ptr<const EventSchema> find(u16 id, u8 version) override;
  std::vector<DeclaredEvent> events() const override;

 private:
  struct Event {
    pugi::xml_node node;
    DeclaredEvent numbers;
  };
  struct Task {
    u16 number;
    std::map<std::string, u8> opcodes;  // its own
  };

  void read_names(const pugi::xml_node& provider);
  void read_opcodes(const pugi::xml_node& parent, u16 task, std::map<std::string, u8>& numbers);
  void read_channels(const pugi::xml_node& provider);
  void read_events(const pugi::xml_node& provider);
  DeclaredEvent numbers_of(const pugi::xml_node& node) const;
  std::shared_ptr<const EventSchema> make(const pugi::xml_node& node);
  const WevtFields* find_fields(const std::string& id);
  std::shared_ptr<const ValueMap> find_map(const std::string& name);
  bool spend(std::size_t parts);

  std::shared_ptr<const void> document_;
  const ManifestStrings& strings_;
  u64 offset_;
  Options options_;
  core::Findings& findings_;
  core::Guid guid_;
  std::string name_;
  ProviderNames names_;
  std::map<std::string, u8> levels_, opcodes_, channels_;  // by name
  std::map<std::string, u64> keywords_;
  std::map<std::string, Task> tasks_;
  std::map<std::string, pugi::xml_node> templates_, map_nodes_;
  std::map<std::pair<u16, u8>, Event> events_;  // the first of a key
  std::map<std::pair<u16, u8>, std::shared_ptr<const EventSchema>> schemas_;
  std::map<std::string, std::unique_ptr<const WevtFields>> fields_;  // null: not declared
  std::map<std::string, std::shared_ptr<const ValueMap>> maps_;
  std::size_t parts_ = 0;  // fields, map entries and texts that were made
};

// Without the braces that manifests have around it.
std::optional<core::Guid> guid_of(const pugi::xml_node& provider);

}  // namespace coldtrace::tracefile
