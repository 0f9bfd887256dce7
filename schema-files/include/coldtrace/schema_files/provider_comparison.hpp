#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/integers.hpp"

namespace coldtrace::schema_files {

// A member of one event that two files declare differently, as text; nothing: not declared.
struct DeclaredChange {
  std::string member;  // "level", or "fields.Name" for the field with that name
  std::optional<std::string> before, after;
};

// An event that only one of two files declares, or that both declare differently.
struct EventChange {
  enum class Kind : u8 { added, removed, changed };
  Kind kind = Kind::changed;
  u16 id = 0;
  u8 version = 0;
  std::string name;                     // task and opcode, from the newer file if it has them
  std::vector<DeclaredChange> members;  // of a changed event
};

[[nodiscard]] std::string_view to_string(EventChange::Kind kind);

// What two sets of schema files declare differently about a provider.
struct ProviderChange {
  EventChange::Kind kind = EventChange::Kind::changed;
  core::Guid guid;
  std::optional<std::string> name_before, name_after;  // if the file has one
  u64 events_before = 0, events_after = 0;
  std::vector<EventChange> events;   // by id and version; none of a new or removed provider
  std::vector<DeclaredChange> maps;  // by name: the values that they name, at most 64
};

// What two builds of a module declare in their WEVT_TEMPLATE resources.
struct ProviderComparison {
  u64 before = 0, after = 0;  // providers
  u64 added = 0, removed = 0, changed = 0;
  u64 events_added = 0, events_removed = 0, events_changed = 0;  // of providers that both have
  std::vector<ProviderChange> changes;                           // by GUID
};

// Compares providers by GUID and events by id and version: names, levels, opcodes, tasks, keywords,
// channels, fields with types, lengths and the maps that name values. Message texts are not
// compared: they are in language files. Nothing if neither file declares a provider. Damage is a
// finding of its file; beyond 16 MiB of text, events are left out, which is `servicing-limit`.
[[nodiscard]] std::optional<ProviderComparison> compare_providers(const std::string& before,
                                                                  const std::string& after,
                                                                  core::Findings& old_findings,
                                                                  core::Findings& new_findings);

}  // namespace coldtrace::schema_files
