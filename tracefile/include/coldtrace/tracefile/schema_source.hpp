#pragma once

#include <map>
#include <memory>

#include "coldtrace/tracefile/event_schema.hpp"

namespace coldtrace::tracefile {

// Somewhere schemas of manifest events come from: the trace itself, and whatever a program adds.
class SchemaSource {
 public:
  SchemaSource() = default;
  virtual ~SchemaSource() = default;

  // Both may be called from several threads at once.
  virtual std::shared_ptr<const EventSchema> find(const SchemaKey& key) const = 0;
  virtual std::string_view find_provider_name(const core::Guid& provider) const = 0;

 protected:
  SchemaSource(const SchemaSource&) = default;
  SchemaSource& operator=(const SchemaSource&) = default;
};

// Schemas kept in a table; the first of a key stays.
class SchemaTable final : public SchemaSource {
 public:
  void add(const SchemaKey& key, EventSchema schema);
  std::size_t size() const { return schemas_.size(); }

  std::shared_ptr<const EventSchema> find(const SchemaKey& key) const override;
  std::string_view find_provider_name(const core::Guid& provider) const override;

 private:
  std::map<SchemaKey, std::shared_ptr<const EventSchema>> schemas_;
  std::map<core::Guid, std::string> provider_names_;
};

// Asks its sources in order; the first that knows an event decides.
class SchemaChain final : public SchemaSource {
 public:
  void append(std::shared_ptr<const SchemaSource> source) { sources_.push_back(std::move(source)); }

  std::shared_ptr<const EventSchema> find(const SchemaKey& key) const override;
  std::string_view find_provider_name(const core::Guid& provider) const override;

 private:
  std::vector<std::shared_ptr<const SchemaSource>> sources_;
};

}  // namespace coldtrace::tracefile
