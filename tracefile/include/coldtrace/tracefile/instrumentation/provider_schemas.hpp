#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/tracefile/fields/field_schema.hpp"
#include "coldtrace/tracefile/fields/provider_names.hpp"

namespace coldtrace::tracefile {

// Texts by number, as in a message table: those of events, and of values in maps.
class MessageTexts {
 public:
  MessageTexts() = default;
  virtual ~MessageTexts() = default;
  // Valid UTF-8 without a final line break; empty if there is none.
  [[nodiscard]] virtual std::string find(u32 id) const = 0;

 protected:
  MessageTexts(const MessageTexts&) = default;
  MessageTexts& operator=(const MessageTexts&) = default;
};

// A kind of event that a provider declares, with the numbers of its record: those in the header of
// an event can differ.
struct DeclaredEvent {
  u16 id = 0;
  u8 version = 0, channel = 0, level = 0, opcode = 0;
  u16 task = 0;
  u64 keywords = 0;
};

// All that one file declares of one provider. Not for several threads at once: what is asked for is
// read on demand.
class ProviderSchemas {
 public:
  ProviderSchemas() = default;
  ProviderSchemas(const ProviderSchemas&) = delete;
  ProviderSchemas& operator=(const ProviderSchemas&) = delete;
  virtual ~ProviderSchemas() = default;

  [[nodiscard]] virtual const core::Guid& guid() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;  // empty if the file does not say
  [[nodiscard]] virtual const ProviderNames& names() const = 0;
  // Null if the provider has no such event.
  virtual std::shared_ptr<const EventSchema> find(u16 id, u8 version) = 0;
  // Every one that find() may have a schema for, ordered by id and version.
  [[nodiscard]] virtual std::vector<DeclaredEvent> events() const = 0;
};

}  // namespace coldtrace::tracefile
