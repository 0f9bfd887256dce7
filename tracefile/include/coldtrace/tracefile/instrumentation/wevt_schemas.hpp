#pragma once

#include <map>
#include <memory>

#include "coldtrace/tracefile/instrumentation/provider_schemas.hpp"
#include "coldtrace/tracefile/instrumentation/wevt_fields.hpp"

namespace coldtrace::tracefile {

// The events of one provider of a WEVT_TEMPLATE resource. A record is found in place; its template
// and maps are read when they are first asked for.
class WevtSchemas final : public ProviderSchemas {
 public:
  struct Options {
    std::string source;                      // of the schemas, EventSchema::source
    const MessageTexts* messages = nullptr;  // without it, values of maps have no names
    std::string version{};                   // EventSchema::source_version
  };

  // Damage is reported to `findings` both then and when parts are asked for. The bytes of the
  // resource, the messages and the findings must outlive the object.
  static core::Result<std::unique_ptr<WevtSchemas>> read(const WevtResource& resource,
                                                         const WevtResource::Provider& provider,
                                                         Options options, core::Findings& findings);

  [[nodiscard]] const core::Guid& guid() const override { return provider_.guid; }
  [[nodiscard]] const std::string& name() const override { return provider_.name; }
  [[nodiscard]] const ProviderNames& names() const override { return names_; }
  std::shared_ptr<const EventSchema> find(u16 id, u8 version) override;
  [[nodiscard]] std::vector<DeclaredEvent> events() const override;

 private:
  WevtSchemas(const WevtResource& resource, WevtProvider provider, Options options,
              core::Findings& findings);
  std::shared_ptr<const EventSchema> make(const WevtEvent& event);
  const WevtFields* find_fields(u32 offset);
  core::Result<WevtFields> make_fields(u32 offset);
  std::shared_ptr<const ValueMap> find_map(u32 offset);
  std::string find_message(u32 id) const;
  std::string find_event_name(const WevtEvent& event) const;
  bool spend(std::size_t parts, u32 offset);

  WevtResource resource_;
  WevtProvider provider_;
  Options options_;
  core::Findings& findings_;
  ProviderNames names_;
  std::map<std::pair<u16, u8>, std::shared_ptr<const EventSchema>> events_;
  std::map<u32, std::unique_ptr<const WevtFields>> fields_;  // null: damaged
  std::map<u32, std::shared_ptr<const ValueMap>> maps_;      // likewise
  std::size_t parts_ = 0;  // fields and map entries that were made
};

}  // namespace coldtrace::tracefile
