#include "cli/output/text.hpp"
#include "cli/servicing/servicing_view.hpp"
#include "cli/syscalls/service_comparison_output.hpp"

namespace coldtrace::cli {
namespace {

using namespace syscall_map;

std::string text_of(const std::optional<std::string>& text, std::string_view absent) {
  return text ? printable(*text) : std::string{absent};
}

std::string text_of(const std::string& name, const std::optional<ComparedExport>& found) {
  return name.empty() ? fmt::format("#{}", found->ordinal) : printable(name);
}

void write_export(Output& output, const ExportChange& change) {
  if (!change.before)
    return print(output, "    + {}{}\n", text_of(change.name, change.after),
                 change.after->forwarder ? " -> " + printable(*change.after->forwarder) : "");
  if (!change.after) return print(output, "    - {}\n", text_of(change.name, change.before));
  if (change.redirected())
    print(output, "    ~ {}: {} -> {}\n", text_of(change.name, change.before),
          text_of(change.before->forwarder, "in the image"),
          text_of(change.after->forwarder, "in the image"));
}

void write_exports(Output& output, const ExportComparison& exports) {
  if (exports.changes.empty()) return;
  print(output,
        "  exports: {} -> {}; {} added, {} removed, {} with another ordinal, {} forwarded "
        "elsewhere, {} at another address\n",
        exports.before, exports.after, exports.added, exports.removed, exports.renumbered,
        exports.redirected, exports.moved);
  for (const auto& change : exports.changes) write_export(output, change);
}

void write_functions(Output& output, char sign, const std::vector<ComparedImport>& functions) {
  for (const auto& function : functions)
    print(output, "      {} {}{}\n", sign,
          function.ordinal ? fmt::format("#{}", *function.ordinal) : printable(function.name),
          function.delayed ? " (delayed)" : "");
}

void write_imports(Output& output, const ImportComparison& imports) {
  if (imports.dlls.empty()) return;
  print(output, "  imports: {} -> {}; {} added, {} removed\n", imports.before, imports.after,
        imports.added, imports.removed);
  for (const auto& change : imports.dlls) {
    print(output, "    {}{}\n", printable(change.dll),
          change.before == 0  ? " (new)"
          : change.after == 0 ? " (no longer)"
                              : "");
    write_functions(output, '+', change.added);
    write_functions(output, '-', change.removed);
  }
}

void write_services(Output& output, const StubComparison& stubs) {
  if (stubs.services.same()) return;
  print(output, "  system calls: {} -> {}; {} in both, {} of them renumbered\n", stubs.before,
        stubs.after, stubs.services.common, stubs.services.renumbered);
  write_service_comparison(output, stubs.services, "    ");
}

std::string text_of(const std::optional<ServiceTablePlace>& place) {
  if (!place) return "none";
  auto text =
      fmt::format("{} at {:#x}", counted(place->entries, "entry", "entries"), value(place->rva));
  const auto add = [&](std::string_view what, std::optional<pe::Rva> rva) {
    if (rva) text += fmt::format(", {} {:#x}", what, value(*rva));
  };
  add("limit", place->limit);
  add("arguments", place->arguments);
  add("descriptor", place->descriptor);
  return text;
}

void write_api_set(Output& output, const ApiSetChange& change) {
  const auto hosts = [](const std::optional<std::vector<pe::ApiSetHost>>& all) {
    std::string text;
    for (const auto& host : *all)
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ",
                          host.dll.empty() ? "nothing" : printable(host.dll),
                          host.importer.empty() ? "" : " for " + printable(host.importer));
    return text.empty() ? std::string{"nothing"} : text;
  };
  if (!change.before)
    print(output, "    + {}: {}\n", printable(change.name), hosts(change.after));
  else if (!change.after)
    print(output, "    - {}\n", printable(change.name));
  else
    print(output, "    ~ {}: {} -> {}\n", printable(change.name), hosts(change.before),
          hosts(change.after));
}

std::string text_of(const TraceablePlace& place) {
  if (place.eligible()) return "eligible";
  std::string text;
  for (const auto refusal : place.refusals)
    text += (text.empty() ? "" : ", ") + std::string{to_string(refusal)};
  return text;
}

void write_trace_points(Output& output, const TracePointComparison& points) {
  if (points.changes.empty()) return;
  print(output, "  trace points at exports: {} -> {}; {} refused now, {} no longer\n",
        points.before, points.after, points.refused, points.admitted);
  for (const auto& change : points.changes)
    print(output, "    ~ {}: {} -> {}\n", printable(change.name), text_of(change.before),
          text_of(change.after));
}

void write_api_sets(Output& output, const ApiSetComparison& sets) {
  if (sets.same()) return;
  const auto version = [](std::optional<u32> number) {
    return number ? fmt::format("version {}", *number) : std::string{"none"};
  };
  print(output, "  API sets: {} of {} -> {} of {}; ", sets.before, version(sets.version_before),
        sets.after, version(sets.version_after));
  if (!sets.comparable) return output.write("names of these versions cannot be compared\n");
  print(output, "{} added, {} removed, {} changed\n", sets.added, sets.removed, sets.changed);
  for (const auto& change : sets.changes) write_api_set(output, change);
}

char sign_of(schema_files::EventChange::Kind kind) {
  using Kind = schema_files::EventChange::Kind;
  return kind == Kind::added ? '+' : kind == Kind::removed ? '-' : '~';
}

void write_provider(Output& output, const schema_files::ProviderChange& change) {
  const auto& name = change.name_after ? change.name_after : change.name_before;
  print(output, "    {} {} {}: {} -> {}\n", sign_of(change.kind), core::to_string(change.guid),
        text_of(name, "(no name)"), change.events_before,
        counted(change.events_after, "event", "events"));
  for (const auto& event : change.events) {
    print(output, "      {} event {} version {} {}\n", sign_of(event.kind), event.id, event.version,
          printable(event.name));
    for (const auto& member : event.members)
      print(output, "        {}: {} -> {}\n", printable(member.member),
            text_of(member.before, "none"), text_of(member.after, "none"));
  }
  for (const auto& map : change.maps)
    print(output, "      ~ map {}: {} -> {}\n", printable(map.member), text_of(map.before, "none"),
          text_of(map.after, "none"));
}

void write_providers(Output& output, const schema_files::ProviderComparison& providers) {
  if (providers.changes.empty()) return;
  print(output,
        "  event providers: {} -> {}; {} added, {} removed, {} changed ({} added, {} "
        "removed, {} changed)\n",
        providers.before, providers.after, providers.added, providers.removed, providers.changed,
        counted(providers.events_added, "event", "events"), providers.events_removed,
        providers.events_changed);
  for (const auto& change : providers.changes) write_provider(output, change);
}

void write_types(Output& output, const ServicedTypes& types) {
  const auto& comparison = types.compared.comparison;
  if (comparison.changes.empty()) return;
  print(output, "  types: {} changed, {} added, {} removed\n", comparison.changed, comparison.added,
        comparison.removed);
  for (const auto& change : comparison.changes)
    print(output, "    {} {}{}\n",
          !change.before  ? '+'
          : !change.after ? '-'
                          : '~',
          printable(change.name),
          change.before && change.after
              ? ": " + counted(change.members.size(), "member differs", "members differ")
              : std::string{});
}

}  // namespace

void write_module_changes(Output& output, const ComparedPair& compared) {
  if (compared.tables) {
    const auto& tables = *compared.tables;
    write_exports(output, tables.exports);
    write_imports(output, tables.imports);
    if (tables.services) write_services(output, *tables.services);
    if (tables.service_tables)
      for (const auto& change : *tables.service_tables)
        print(output, "  {}: {} -> {}\n", printable(change.name), text_of(change.before),
              text_of(change.after));
    if (tables.api_sets) write_api_sets(output, *tables.api_sets);
    if (tables.trace_points) write_trace_points(output, *tables.trace_points);
  }
  if (compared.providers) write_providers(output, *compared.providers);
  if (compared.types) write_types(output, *compared.types);
}

}  // namespace coldtrace::cli
