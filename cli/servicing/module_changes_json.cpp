#include "cli/pe/types/type_comparison_output.hpp"
#include "cli/servicing/servicing_view.hpp"
#include "cli/syscalls/service_comparison_output.hpp"

namespace coldtrace::cli {
namespace {

using namespace syscall_map;

std::optional<u32> number_of(std::optional<pe::Rva> rva) {
  return rva ? std::optional{value(*rva)} : std::nullopt;
}

void write_export(JsonWriter& json, const std::optional<ComparedExport>& found) {
  if (!found)
    json.value(nullptr);
  else
    json.object("ordinal", found->ordinal, "rva", value(found->address), "forwarder",
                found->forwarder);
}

void write_exports(JsonWriter& json, const ExportComparison& exports) {
  json.begin_object()
      .field("before", exports.before)
      .field("after", exports.after)
      .field("added", exports.added)
      .field("removed", exports.removed)
      .field("renumbered", exports.renumbered)
      .field("redirected", exports.redirected)
      .field("moved", exports.moved)
      .key("changes")
      .begin_array();
  for (const auto& change : exports.changes) {
    json.begin_object().field("name", MaybeText{change.name}).key("before");
    write_export(json, change.before);
    json.key("after");
    write_export(json, change.after);
    json.end_object();
  }
  json.end_array().end_object();
}

void write_functions(JsonWriter& json, const std::vector<ComparedImport>& functions) {
  json.begin_array();
  for (const auto& function : functions)
    json.object("name", MaybeText{function.name}, "ordinal", function.ordinal, "delayed",
                function.delayed);
  json.end_array();
}

void write_imports(JsonWriter& json, const ImportComparison& imports) {
  json.begin_object()
      .field("before", imports.before)
      .field("after", imports.after)
      .field("added", imports.added)
      .field("removed", imports.removed)
      .key("dlls")
      .begin_array();
  for (const auto& change : imports.dlls) {
    json.begin_object()
        .field("dll", MaybeText{change.dll})
        .field("before", change.before)
        .field("after", change.after)
        .key("added");
    write_functions(json, change.added);
    json.key("removed");
    write_functions(json, change.removed);
    json.end_object();
  }
  json.end_array().end_object();
}

void write_services(JsonWriter& json, const StubComparison& stubs) {
  json.begin_object().field("before", stubs.before).field("after", stubs.after);
  write_service_comparison(json, stubs.services);
  json.end_object();
}

void write_table(JsonWriter& json, const std::optional<ServiceTablePlace>& place) {
  if (!place)
    json.value(nullptr);
  else
    json.object("rva", value(place->rva), "form", to_string(place->form), "entries", place->entries,
                "limit", number_of(place->limit), "arguments", number_of(place->arguments),
                "descriptor", number_of(place->descriptor));
}

void write_tables(JsonWriter& json, const std::vector<ServiceTableChange>& changes) {
  json.begin_array();
  for (const auto& change : changes) {
    json.begin_object().field("name", change.name).key("before");
    write_table(json, change.before);
    json.key("after");
    write_table(json, change.after);
    json.end_object();
  }
  json.end_array();
}

void write_hosts(JsonWriter& json, const std::optional<std::vector<pe::ApiSetHost>>& hosts) {
  if (!hosts) {
    json.value(nullptr);
    return;
  }
  json.begin_array();
  for (const auto& host : *hosts) {
    json.begin_object();
    json.field("importer", ExactText{text_or_null(host.importer)});
    json.field("dll", ExactText{text_or_null(host.dll)});
    json.end_object();
  }
  json.end_array();
}

void write_api_sets(JsonWriter& json, const ApiSetComparison& sets) {
  json.begin_object()
      .field("version_before", sets.version_before)
      .field("version_after", sets.version_after)
      .field("before", sets.before)
      .field("after", sets.after)
      .field("comparable", sets.comparable)
      .field("added", sets.added)
      .field("removed", sets.removed)
      .field("changed", sets.changed)
      .key("changes")
      .begin_array();
  for (const auto& change : sets.changes) {
    json.begin_object();
    json.field("name", ExactText{text_or_null(change.name)});
    json.key("before");
    write_hosts(json, change.before);
    json.key("after");
    write_hosts(json, change.after);
    json.end_object();
  }
  json.end_array().end_object();
}

void write_traceable(JsonWriter& json, const TraceablePlace& place) {
  json.begin_object()
      .field("rva", value(place.rva))
      .field("eligible", place.eligible())
      .key("refusals")
      .begin_array();
  for (const auto refusal : place.refusals) json.value(to_string(refusal));
  json.end_array().end_object();
}

void write_trace_points(JsonWriter& json, const TracePointComparison& points) {
  json.begin_object()
      .field("before", points.before)
      .field("after", points.after)
      .field("refused", points.refused)
      .field("admitted", points.admitted)
      .key("changes")
      .begin_array();
  for (const auto& change : points.changes) {
    json.begin_object().field("name", MaybeText{change.name}).key("before");
    write_traceable(json, change.before);
    json.key("after");
    write_traceable(json, change.after);
    json.end_object();
  }
  json.end_array().end_object();
}

void write_declared(JsonWriter& json, const std::vector<schema_files::DeclaredChange>& changes,
                    bool maps) {
  json.begin_array();
  for (const auto& change : changes) {
    if (maps)
      json.object("name", change.member, "before", change.before, "after", change.after);
    else
      json.object("member", change.member, "before", change.before, "after", change.after);
  }
  json.end_array();
}

void write_provider(JsonWriter& json, const schema_files::ProviderChange& change) {
  json.begin_object()
      .field("guid", core::to_string(change.guid))
      .field("change", to_string(change.kind))
      .field("name_before", change.name_before)
      .field("name_after", change.name_after)
      .field("events_before", change.events_before)
      .field("events_after", change.events_after)
      .key("events")
      .begin_array();
  for (const auto& event : change.events) {
    json.begin_object()
        .field("id", event.id)
        .field("version", event.version)
        .field("name", MaybeText{event.name})
        .field("change", to_string(event.kind))
        .key("members");
    write_declared(json, event.members, false);
    json.end_object();
  }
  json.end_array().key("maps");
  write_declared(json, change.maps, true);
  json.end_object();
}

void write_providers(JsonWriter& json, const schema_files::ProviderComparison& providers) {
  json.begin_object()
      .field("before", providers.before)
      .field("after", providers.after)
      .field("added", providers.added)
      .field("removed", providers.removed)
      .field("changed", providers.changed)
      .field("events_added", providers.events_added)
      .field("events_removed", providers.events_removed)
      .field("events_changed", providers.events_changed)
      .key("changes")
      .begin_array();
  for (const auto& change : providers.changes) write_provider(json, change);
  json.end_array().end_object();
}

void write_types(JsonWriter& json, const ServicedTypes& types) {
  json.begin_object();
  write_type_comparison_json(json, {types.before, types.after, types.compared});
  json.end_object();
}

// A member that is null where there is nothing to compare.
template <class Part, class Write>
void write_part(JsonWriter& json, std::string_view name, const Part* part, Write write) {
  json.key(name);
  if (part == nullptr)
    json.value(nullptr);
  else
    write(*part);
}

template <class Part>
const Part* pointer_to(const std::optional<Part>& maybe) {
  return maybe ? &*maybe : nullptr;
}

}  // namespace

void write_module_changes(JsonWriter& json, const ComparedPair& compared) {
  const auto* const tables = pointer_to(compared.tables);
  write_part(json, "exports", tables ? &tables->exports : nullptr,
             [&](const auto& part) { write_exports(json, part); });
  write_part(json, "imports", tables ? &tables->imports : nullptr,
             [&](const auto& part) { write_imports(json, part); });
  write_part(json, "services", tables ? pointer_to(tables->services) : nullptr,
             [&](const auto& part) { write_services(json, part); });
  write_part(json, "service_tables", tables ? pointer_to(tables->service_tables) : nullptr,
             [&](const auto& part) { write_tables(json, part); });
  write_part(json, "api_sets", tables ? pointer_to(tables->api_sets) : nullptr,
             [&](const auto& part) { write_api_sets(json, part); });
  write_part(json, "trace_points", tables ? pointer_to(tables->trace_points) : nullptr,
             [&](const auto& part) { write_trace_points(json, part); });
  write_part(json, "providers", pointer_to(compared.providers),
             [&](const auto& part) { write_providers(json, part); });
  write_part(json, "types", static_cast<const ServicedTypes*>(compared.types.get()),
             [&](const auto& part) { write_types(json, part); });
}

}  // namespace coldtrace::cli
