#include "cli/hooks/table/hook_table_formats.hpp"
#include "cli/hooks/table/member_text.hpp"
#include "cli/hooks/trace_plan.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookTable;

template <class T>
std::string number_or_dash(const std::optional<T>& number) {
  return number ? fmt::format("{}", *number) : "-";
}

std::string_view word_of(bool verified) {
  return verified ? "verified" : "unverified";
}

void write_services(Output& output, const HookTable& build) {
  print(output, "{}\n", counted(build.services.size(), "service", "services"));
  if (build.services.empty()) return;
  print(output, "{:<6}  {:<10}  {:<10}  {:>5}  {:>5}  {:<10}  {}\n", "number", "image", "target",
        "args", "stack", "confidence", "name");
  for (const auto& service : build.services)
    print(
        output, "{:#06x}  {:<10}  {:<10}  {:>5}  {:>5}  {:<10}  {}\n", service.number,
        service.image ? to_string(*service.image) : "-",
        service.target ? to_string(*service.target) : "-", number_or_dash(service.argument_bytes),
        number_or_dash(service.stack_argument_bytes), to_string(service.confidence),
        printable(service.names.empty() ? "-" : fmt::format("{}", fmt::join(service.names, " "))));
}

void write_tables(Output& output, const HookTable& build) {
  for (const auto& [image, table] : build.service_tables)
    print(output, "{} of {} at rva {:#x}, {} of form {}, {} confidence, {}\n",
          printable(table.name), to_string(image), value(table.rva),
          counted(table.entries.size(), "entry", "entries"), to_string(table.form),
          to_string(table.confidence), word_of(table.verified));
  if (build.services_tab)
    print(output, "KiServicesTab at rva {:#x}, {}, {} confidence, {}\n",
          value(build.services_tab->rva),
          counted(build.services_tab->entries.size(), "record", "records"),
          to_string(build.services_tab->confidence), word_of(build.services_tab->verified));
}

void write_switches(Output& output, const HookTable& build) {
  for (const auto& found : build.context_switch.candidates) {
    print(output, "{} at rva {:#x}, {}, {} confidence, {}\n", printable(found.name),
          value(found.rva), counted(found.callers.size(), "caller", "callers"),
          to_string(found.confidence), word_of(found.verified));
    print(output, "  {}\n", explain(found.condition));
    for (const auto& option : found.plan.options)
      print(output, "  {}: {} at {}, {}\n", to_string(option.method),
            counted(option.written, "byte", "bytes"), counted(option.sites.size(), "site", "sites"),
            option.safe ? "safe" : "not safe");
  }
  for (const auto& reason : build.context_switch.reasons) print(output, "{}\n", printable(reason));
}

void write_members(Output& output, const HookTable& build) {
  if (build.members.empty()) return;
  print(output, "{}\n{:<8}  {:>18}  {:>6}  {:<10}  {:<8}  {}\n",
        counted(build.members.size(), "member", "members"), "kind", "value", "size", "confidence",
        "source", "name");
  for (const auto& member : build.members) {
    const auto bits = member.bit_length ? fmt::format(", bits {} to {}", *member.bit_position,
                                                      *member.bit_position + *member.bit_length - 1)
                                        : std::string{};
    const auto other = member.value && member.expression != member.name
                           ? fmt::format(" ({})", member.expression)
                           : std::string{};
    print(output, "{:<8}  {:>18}  {:>6}  {:<10}  {:<8}  {}{}{}\n", to_string(member.kind),
          value_text(member), number_or_dash(member.size),
          member.value ? to_string(member.confidence) : "-", sources_text(member),
          printable(member.name), printable(other), bits);
  }
}

void write_build(Output& output, const HookTable& build) {
  for (const auto& image : build.images)
    print(output, "{:<10} {}{}{}\n", to_string(image.role), printable(image.path),
          image.path.empty() ? "" : ": ", to_text({image.identity, image.sha256}));
  write_services(output, build);
  write_tables(output, build);
  write_switches(output, build);
  for (const auto& field : build.thread_offsets.fields)
    print(output, "{}.{} at {:#x}, {} confidence, {}\n", printable(field.structure),
          printable(field.field), field.offset, to_string(field.confidence),
          word_of(field.verified));
  for (const auto& interface : build.supported_interfaces)
    if (interface.exported)
      print(output, "use {}: {}\n", printable(interface.name), printable(interface.purpose));
  write_members(output, build);
  if (!build.trace_points.empty())
    print(output, "{}\n", counted(build.trace_points.size(), "trace point", "trace points"));
  write_trace_points_text(output, build.trace_points);
  output.write("\n");
}

}  // namespace

void write_hook_table_text(Output& output, const HookTableDocument& document) {
  for (const auto& build : document.builds) write_build(output, build);
  for (const auto& [file, reason] : document.unpaired)
    print(output, "unpaired {} {}: {}\n", to_string(file.role), printable(file.path),
          printable(reason));
}

void write_hook_table_binary(Output& output, std::span<const HookTable> builds, bool evidence) {
  const auto bytes = syscall_map::encode_hook_tables(builds, {.evidence = evidence});
  if (!bytes) throw Failure{core::to_string(bytes.error())};
  output.write(core::to_chars(*bytes));
}

void write_hook_table(Output& output, const CommonOptions& options, bool evidence,
                      const HookTableDocument& document) {
  if (options.format == "json")
    write_hook_table_json(output, options.int64, document);
  else if (options.format == "c-header")
    write_hook_table_c_header(output, document);
  else if (options.format == "csv")
    write_hook_table_csv(output, document);
  else if (options.format == "sqlite")
    write_hook_table_sqlite(output, document);
  else if (options.format == "hooktab")
    write_hook_table_binary(output, document.builds, evidence);
  else
    write_hook_table_text(output, document);
}

}  // namespace coldtrace::cli
