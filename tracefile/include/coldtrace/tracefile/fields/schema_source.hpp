#pragma once

#include <map>
#include <memory>
#include <vector>

#include "coldtrace/tracefile/fields/event_schema.hpp"
#include "coldtrace/tracefile/fields/provider_names.hpp"

namespace coldtrace::tracefile {

// A source of schemas for manifest events: the trace itself, and whatever a program adds.
class SchemaSource {
 public:
  SchemaSource() = default;
  virtual ~SchemaSource() = default;

  // All may be called from several threads at once.
  [[nodiscard]] virtual std::shared_ptr<const EventSchema> find(const SchemaKey& key) const = 0;
  [[nodiscard]] virtual std::string_view find_provider_name(const core::Guid& provider) const = 0;
  // Schemas that the event may have instead of the one of find(): they are tried in this order if
  // that one leaves bytes of a payload, or if the payload ends inside it.
  [[nodiscard]] virtual std::vector<std::shared_ptr<const EventSchema>> find_others(
      const SchemaKey&) const {
    return {};
  }
  // What the provider calls the numbers in its headers; null if that is not known.
  [[nodiscard]] virtual std::shared_ptr<const ProviderNames> find_names(const core::Guid&) const {
    return nullptr;
  }

  // Whether processes have their own declarations of the provider.
  [[nodiscard]] virtual bool has_variants(const core::Guid&) const { return false; }
  // Which one a process has; 0: the first one, or none of its own.
  [[nodiscard]] virtual u32 find_variant(const core::Guid&, u32 /*process*/) const { return 0; }
  // What a variant has for an event, or what find() gives.
  [[nodiscard]] virtual std::shared_ptr<const EventSchema> find_of(const SchemaKey& key,
                                                                   u32 /*variant*/) const {
    return find(key);
  }
  [[nodiscard]] virtual std::shared_ptr<const ProviderNames> find_names_of(
      const core::Guid& provider, u32 /*variant*/) const {
    return find_names(provider);
  }

 protected:
  SchemaSource(const SchemaSource&) = default;
  SchemaSource& operator=(const SchemaSource&) = default;
};

// Schemas kept in a table; the first of a key takes precedence.
class SchemaTable final : public SchemaSource {
 public:
  // Does nothing if the key has one.
  void add(const SchemaKey& key, EventSchema schema);
  // After the one of the key, which must exist.
  void add_other(const SchemaKey& key, EventSchema schema);
  void set_names(const core::Guid& provider, ProviderNames names);
  [[nodiscard]] std::size_t size() const { return schemas_.size(); }

  [[nodiscard]] std::shared_ptr<const EventSchema> find(const SchemaKey& key) const override;
  [[nodiscard]] std::string_view find_provider_name(const core::Guid& provider) const override;
  [[nodiscard]] std::vector<std::shared_ptr<const EventSchema>> find_others(
      const SchemaKey& key) const override;
  [[nodiscard]] std::shared_ptr<const ProviderNames> find_names(
      const core::Guid& provider) const override;

 private:
  std::map<SchemaKey, std::shared_ptr<const EventSchema>> schemas_;
  std::map<SchemaKey, std::vector<std::shared_ptr<const EventSchema>>> others_;
  std::map<core::Guid, std::string> provider_names_;
  std::map<core::Guid, std::shared_ptr<const ProviderNames>> names_;
};

// Asks its sources in order; the first that knows an event decides.
class SchemaChain final : public SchemaSource {
 public:
  void append(std::shared_ptr<const SchemaSource> source) {
    sources_.push_back({std::move(source), false});
  }
  // The same for a source whose schemas are tried even if one before it has the event.
  void append_alternative(std::shared_ptr<const SchemaSource> source) {
    sources_.push_back({std::move(source), true});
  }

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
  struct Link {
    std::shared_ptr<const SchemaSource> source;
    bool alternative;
  };
  std::vector<Link> sources_;
};

}  // namespace coldtrace::tracefile
