#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/fields/schema_source.hpp"
#include "tracefile/providers/event_source_manifest.hpp"

namespace coldtrace::tracefile {

// What EventSources declare. Every process writes the manifest of the provider that it has, and
// processes can have different builds of one: an event is as its own process declares it, else as
// the first manifest of the provider that has it.
class EventSourceSchemas final : public SchemaSource {
 public:
  // A manifest that lies in a buffer, of a process that may have had one before: the first stays.
  // Events that are declared otherwise than by an earlier manifest are a finding. Its number among
  // those of its provider.
  u32 add(EventManifest manifest, u32 process, u64 buffer, core::Findings& findings);
  // The process has a manifest of the provider that is known, by its number.
  void add_process(const core::Guid& provider, u32 process, u32 number);

  // Grows with every manifest.
  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] std::shared_ptr<const EventSchema> find(const SchemaKey& key) const override;
  [[nodiscard]] std::string_view find_provider_name(const core::Guid& provider) const override;
  [[nodiscard]] std::vector<std::shared_ptr<const EventSchema>> find_others(
      const SchemaKey& key) const override;
  [[nodiscard]] std::shared_ptr<const ProviderNames> find_names(
      const core::Guid& provider) const override;
  [[nodiscard]] bool has_variants(const core::Guid& provider) const override;
  [[nodiscard]] u32 find_variant(const core::Guid& provider, u32 process) const override;
  [[nodiscard]] std::shared_ptr<const EventSchema> find_of(const SchemaKey& key,
                                                           u32 variant) const override;
  [[nodiscard]] std::shared_ptr<const ProviderNames> find_names_of(const core::Guid& provider,
                                                                   u32 variant) const override;

 private:
  struct Manifest {
    std::shared_ptr<const SchemaTable> table;
    u32 process;
  };
  using Manifests = std::vector<Manifest>;

  // Of the first manifest that has the event.
  u32 process_of(const SchemaKey& key) const;
  const Manifests& manifests_of(const core::Guid& provider) const;

  std::map<core::Guid, Manifests> providers_;          // in the order of the file
  std::map<std::pair<core::Guid, u32>, u32> numbers_;  // of the manifest that a process has
  std::size_t size_ = 0;                               // grows with every manifest and its events
};

}  // namespace coldtrace::tracefile
