#include "coldtrace/schema_files/provider_comparison.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "coldtrace/tracefile/fields/type_names.hpp"
#include "coldtrace/tracefile/instrumentation/wevt_schemas.hpp"
#include "schema-files/schema_module.hpp"

namespace coldtrace::schema_files {
namespace {

using tracefile::DeclaredEvent;
using tracefile::FieldSchema;
using tracefile::ProviderSchemas;
using tracefile::WevtSchemas;
using Kind = EventChange::Kind;

// Of the texts of one comparison; the whole of the largest module of Windows is a tenth.
constexpr u64 most_text = u64{16} << 20;
// Values of all maps of a provider.
constexpr u64 most_values = 1'000'000;
// Values of a map that are shown.
constexpr std::size_t most_shown = 64;

// The values that each map of a provider names.
using MapValues = std::map<std::string, std::vector<u32>>;

// What one file declares.
struct Declared {
  struct Provider {
    std::unique_ptr<WevtSchemas> schemas;
    MapValues maps;
  };
  std::vector<std::byte> bytes;  // that the providers are views of
  tracefile::WevtResource resource;
  std::map<core::Guid, Provider> providers;
};

MapValues read_maps(const tracefile::WevtResource& resource,
                    const tracefile::WevtResource::Provider& provider) {
  MapValues maps;
  core::Findings known;  // what is damaged is told of the schemas
  const auto read = tracefile::read_wevt_provider(resource, provider, known);
  if (!read) return maps;
  u64 left = most_values;
  for (const auto offset : read->maps) {
    const auto map = tracefile::read_wevt_map(resource, offset);
    if (!map || map->entries.size() > left) continue;
    left -= map->entries.size();
    std::vector<u32> values;
    for (const auto& entry : map->entries) values.push_back(entry.value);
    std::sort(values.begin(), values.end());
    maps.emplace(map->name, std::move(values));
  }
  return maps;
}

std::string text_of(const std::vector<u32>& values) {
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), most_shown); ++i)
    text += fmt::format("{}{:#x}", i == 0 ? "" : " ", values[i]);
  if (values.size() > most_shown) text += fmt::format(" and {} more", values.size() - most_shown);
  return text;
}

Declared read_declared(const std::string& path, core::Findings& findings) {
  Declared declared;
  const auto [module, why, is_damaged] = SchemaModule::find(path);
  if (is_damaged) findings.warning("schema-file", std::nullopt, "{}", why);
  if (!module) return declared;
  auto bytes = module->read();
  if (!bytes) {
    findings.warning("schema-file", bytes.error());
    return declared;
  }
  declared.bytes = std::move(*bytes);
  auto resource = tracefile::WevtResource::read(declared.bytes, module->offset, findings);
  if (!resource) {
    findings.warning("schema-damaged", resource.error());
    return declared;
  }
  declared.resource = std::move(*resource);
  for (const auto& provider : declared.resource.providers) {
    if (declared.providers.contains(provider.guid)) continue;
    auto read = WevtSchemas::read(declared.resource, provider, {.source = path}, findings);
    if (read)
      declared.providers[provider.guid] = {std::move(*read),
                                           read_maps(declared.resource, provider)};
    else
      findings.warning("schema-damaged", read.error());
  }
  return declared;
}

using EventKey = std::pair<u16, u8>;

std::map<EventKey, DeclaredEvent> events_of(const ProviderSchemas& provider) {
  std::map<EventKey, DeclaredEvent> events;
  for (const auto& event : provider.events())
    events.emplace(EventKey{event.id, event.version}, event);
  return events;
}

std::string named(u64 number, std::string_view name) {
  return name.empty() ? fmt::format("{}", number) : fmt::format("{} ({})", number, name);
}

std::string keywords_of(const DeclaredEvent& event, const tracefile::ProviderNames& names) {
  auto text = fmt::format("{:#x}", event.keywords);
  u64 rest = 0;
  std::string list;
  for (const auto name : names.find_keywords(event.keywords, rest))
    list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
  return list.empty() ? text : fmt::format("{} ({})", text, list);
}

std::string amount_text(std::string_view what, const FieldSchema::Amount& amount,
                        const std::map<u16, std::string>& slots) {
  switch (amount.rule) {
    case FieldSchema::Rule::none:
      return {};
    case FieldSchema::Rule::fixed:
      return fmt::format(" {} {}", what, amount.number);
    case FieldSchema::Rule::slot: {
      const auto found = slots.find(amount.number);
      return fmt::format(" {} {}", what, found == slots.end() ? "?" : found->second);
    }
    case FieldSchema::Rule::prefixed:
      return fmt::format(" {} prefixed", what);
    case FieldSchema::Rule::rest:
      break;
  }
  return fmt::format(" {} rest", what);
}

// The fields of an event, members of structures with their paths, in order: name and description.
class FieldList {
 public:
  explicit FieldList(const std::vector<FieldSchema>& fields) { add(fields, {}); }

  std::vector<std::pair<std::string, std::string>> rows;

  std::string order() const {
    std::string names;
    for (const auto& [name, text] : rows)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    return names;
  }

 private:
  void add(const std::vector<FieldSchema>& fields, const std::string& prefix) {
    for (const auto& field : fields) {
      rows.emplace_back(prefix + field.name, describe(field));
      if (field.slot != 0) slots_[field.slot] = field.name;
      if (!field.members.empty()) add(field.members, prefix + field.name + ".");
    }
  }

  std::string describe(const FieldSchema& field) const {
    std::string text;
    if (field.in == tracefile::InType::structure)
      text = "struct";
    else if (const auto name = manifest_name(field.in); !name.empty())
      text = name;
    else
      text = fmt::format("type {}", static_cast<unsigned>(field.in));
    if (const auto out = manifest_name(field.out); !out.empty()) text += fmt::format(" as {}", out);
    text += amount_text("length", field.length, slots_);
    text += amount_text("count", field.count, slots_);
    if (field.map) text += fmt::format(" named by {}", field.map->name);
    return text;
  }

  std::map<u16, std::string> slots_;
};

// Collects what differs of one event.
class EventComparison {
 public:
  void compare(std::string member, std::string before, std::string after) {
    if (before != after)
      changes.push_back({std::move(member), std::move(before), std::move(after)});
  }

  void compare_fields(const std::vector<FieldSchema>& before,
                      const std::vector<FieldSchema>& after) {
    const FieldList old_list{before};
    const FieldList new_list{after};
    const std::map<std::string, std::string> old_fields{old_list.rows.begin(), old_list.rows.end()};
    const std::map<std::string, std::string> new_fields{new_list.rows.begin(), new_list.rows.end()};
    compare("fields", old_list.order(), new_list.order());
    for (const auto& [name, text] : old_list.rows) {
      const auto other = new_fields.find(name);
      if (other == new_fields.end())
        changes.push_back({"fields." + name, text, std::nullopt});
      else
        compare("fields." + name, text, other->second);
    }
    for (const auto& [name, text] : new_list.rows)
      if (!old_fields.contains(name)) changes.push_back({"fields." + name, std::nullopt, text});
  }

  std::vector<DeclaredChange> changes;
};

struct Side {
  ProviderSchemas& provider;
  const DeclaredEvent& event;
};

void compare_event(const Side& before, const Side& after, ProviderChange& change) {
  const auto& old_names = before.provider.names();
  const auto& new_names = after.provider.names();
  const auto& [was, is] = std::pair{before.event, after.event};
  EventComparison differing;
  const auto old_schema = before.provider.find(was.id, was.version);
  const auto new_schema = after.provider.find(is.id, is.version);
  if (old_schema && new_schema)
    differing.compare("name", old_schema->event_name, new_schema->event_name);
  differing.compare("channel", named(was.channel, old_names.find_channel(was.channel)),
                    named(is.channel, new_names.find_channel(is.channel)));
  differing.compare("level", named(was.level, old_names.find_level(was.level)),
                    named(is.level, new_names.find_level(is.level)));
  differing.compare("opcode", named(was.opcode, old_names.find_opcode(was.opcode, was.task)),
                    named(is.opcode, new_names.find_opcode(is.opcode, is.task)));
  differing.compare("task", named(was.task, old_names.find_task(was.task)),
                    named(is.task, new_names.find_task(is.task)));
  differing.compare("keywords", keywords_of(was, old_names), keywords_of(is, new_names));
  if (old_schema && new_schema)
    differing.compare_fields(old_schema->fields, new_schema->fields);
  else if (old_schema || new_schema)
    differing.compare("fields", old_schema ? "readable" : "damaged",
                      new_schema ? "readable" : "damaged");
  if (differing.changes.empty()) return;
  const auto& named_by = new_schema ? new_schema : old_schema;
  change.events.push_back({Kind::changed, is.id, is.version,
                           named_by ? named_by->event_name : std::string{},
                           std::move(differing.changes)});
}

u64 size_of(const EventChange& event) {
  u64 size = event.name.size() + 64;
  for (const auto& member : event.members)
    size += member.member.size() + member.before.value_or("").size() +
            member.after.value_or("").size() + 64;
  return size;
}

std::string name_of(ProviderSchemas& provider, const DeclaredEvent& event) {
  const auto schema = provider.find(event.id, event.version);
  return schema ? schema->event_name : std::string{};
}

void compare_events(ProviderSchemas& before, ProviderSchemas& after, u64& text_left,
                    ProviderChange& change) {
  const auto old_events = events_of(before);
  const auto new_events = events_of(after);
  auto from = old_events.begin();
  auto to = new_events.begin();
  while ((from != old_events.end() || to != new_events.end()) && text_left > 0) {
    const auto known = change.events.size();
    if (to == new_events.end() || (from != old_events.end() && from->first < to->first)) {
      change.events.push_back({Kind::removed,
                               from->first.first,
                               from->first.second,
                               name_of(before, from->second),
                               {}});
      ++from;
    } else if (from == old_events.end() || to->first < from->first) {
      change.events.push_back(
          {Kind::added, to->first.first, to->first.second, name_of(after, to->second), {}});
      ++to;
    } else {
      compare_event({before, from->second}, {after, to->second}, change);
      ++from;
      ++to;
    }
    if (change.events.size() > known)
      text_left -= std::min(text_left, size_of(change.events.back()));
  }
}

std::optional<std::string> name_of(const ProviderSchemas& provider) {
  return provider.name().empty() ? std::nullopt : std::optional{provider.name()};
}

void compare_maps(const MapValues& before, const MapValues& after, ProviderChange& change) {
  for (const auto& [name, values] : before) {
    const auto other = after.find(name);
    if (other == after.end())
      change.maps.push_back({name, text_of(values), std::nullopt});
    else if (values != other->second)
      change.maps.push_back({name, text_of(values), text_of(other->second)});
  }
  for (const auto& [name, values] : after)
    if (!before.contains(name)) change.maps.push_back({name, std::nullopt, text_of(values)});
}

ProviderChange compare_provider(const core::Guid& guid, const Declared::Provider* before,
                                const Declared::Provider* after, u64& text_left) {
  ProviderChange change;
  change.guid = guid;
  change.kind = before && after ? Kind::changed : before ? Kind::removed : Kind::added;
  if (before) {
    change.name_before = name_of(*before->schemas);
    change.events_before = before->schemas->events().size();
  }
  if (after) {
    change.name_after = name_of(*after->schemas);
    change.events_after = after->schemas->events().size();
  }
  if (before && after) {
    compare_maps(before->maps, after->maps, change);
    compare_events(*before->schemas, *after->schemas, text_left, change);
  }
  return change;
}

void add(ProviderComparison& comparison, ProviderChange change) {
  if (change.kind == Kind::changed && change.events.empty() && change.maps.empty() &&
      change.name_before == change.name_after)
    return;
  comparison.added += change.kind == Kind::added;
  comparison.removed += change.kind == Kind::removed;
  comparison.changed += change.kind == Kind::changed;
  for (const auto& event : change.events) {
    comparison.events_added += event.kind == Kind::added;
    comparison.events_removed += event.kind == Kind::removed;
    comparison.events_changed += event.kind == Kind::changed;
  }
  comparison.changes.push_back(std::move(change));
}

}  // namespace

std::string_view to_string(EventChange::Kind kind) {
  switch (kind) {
    case Kind::added:
      return "added";
    case Kind::removed:
      return "removed";
    case Kind::changed:
      return "changed";
  }
  return "";
}

std::optional<ProviderComparison> compare_providers(const std::string& before,
                                                    const std::string& after,
                                                    core::Findings& old_findings,
                                                    core::Findings& new_findings) {
  const auto old_declared = read_declared(before, old_findings);
  const auto new_declared = read_declared(after, new_findings);
  if (old_declared.providers.empty() && new_declared.providers.empty()) return std::nullopt;
  ProviderComparison comparison;
  comparison.before = old_declared.providers.size();
  comparison.after = new_declared.providers.size();
  using Provider = Declared::Provider;
  std::map<core::Guid, std::pair<const Provider*, const Provider*>> all;
  for (const auto& [guid, provider] : old_declared.providers) all[guid].first = &provider;
  for (const auto& [guid, provider] : new_declared.providers) all[guid].second = &provider;
  u64 text_left = most_text;
  for (const auto& [guid, sides] : all)
    add(comparison, compare_provider(guid, sides.first, sides.second, text_left));
  if (text_left == 0)
    new_findings.warning("servicing-limit", std::nullopt,
                         "more than {} bytes of changed events: the others are left out",
                         most_text);
  return comparison;
}

}  // namespace coldtrace::schema_files
