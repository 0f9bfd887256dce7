#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/integers.hpp"

namespace coldtrace::schema_files {

// Something that two files declare otherwise of one event, as text; nothing: not declared.
struct DeclaredChange {
  std::string member;  // "level", or "fields.Name" of the field with that name
  std::optional<std::string> before, after;
};

// An event that one of two files alone declares, or that both declare otherwise.
struct EventChange {
  enum class Kind : u8 { added, removed, changed };
  Kind kind = Kind::changed;
  u16 id = 0;
  u8 version = 0;
  std::string name;                     // its task and opcode, of the newer file where it has it
  std::vector<DeclaredChange> members;  // of a changed one
};

[[nodiscard]] std::string_view to_string(EventChange::Kind kind);

// What two sets of schema files declare differently of a provider.
struct ProviderChange {
  EventChange::Kind kind = EventChange::Kind::changed;
  core::Guid guid;
  std::optional<std::string> name_before, name_after;  // where the file tells one
  u64 events_before = 0, events_after = 0;
  std::vector<EventChange> events;   // by id and version; none of a new or removed provider
  std::vector<DeclaredChange> maps;  // by name: the values that they name, 64 of them at most
};

// What two builds of a module declare in their resources WEVT_TEMPLATE.
struct ProviderComparison {
  u64 before = 0, after = 0;  // providers
  u64 added = 0, removed = 0, changed = 0;
  u64 events_added = 0, events_removed = 0, events_changed = 0;  // of providers that both have
  std::vector<ProviderChange> changes;                           // by GUID
};

// Compares providers by their GUID and events by id and version: names, levels, opcodes, tasks,
// keywords, channels, fields with types, lengths and the maps that name values. Texts of
// messages are not looked at: they lie in files of languages. Nothing where neither file declares a
// provider. What is damaged is a finding of its file; beyond 16 MiB of texts events are left out,
// which is `servicing-limit`.
[[nodiscard]] std::optional<ProviderComparison> compare_providers(const std::string& before,
                                                                  const std::string& after,
                                                                  core::Findings& old_findings,
                                                                  core::Findings& new_findings);

}  // namespace coldtrace::schema_files
