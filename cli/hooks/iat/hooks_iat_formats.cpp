#include <algorithm>

#include "cli/hooks/iat/hooks_iat.hpp"
#include "cli/output/exact_text.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

using pe::ImportTarget;
using pe::Outcome;
using pe::PlannedFunction;
using pe::PlannedModule;
using pe::ResolvedSlot;

std::string section_of(const pe::ModuleTables& tables, const pe::ImportSlot& slot) {
  return slot.section ? std::string{tables.sections[*slot.section].name()} : "(headers)";
}

std::string_view target_module(const IatDocument& document, const ImportTarget& target) {
  return target.module ? document.tables(*target.module).name : target.dll;
}

std::string target_text(const IatDocument& document, const ImportTarget& target) {
  return fmt::format("{}!{}", target_module(document, target),
                     function_text(target.name, target.ordinal));
}

// "kernel32.dll!HeapAlloc" of each forwarder, and the hosts of API sets.
std::vector<std::string> way_of(const IatDocument& document, const ResolvedSlot& slot) {
  std::vector<std::string> way;
  if (!slot.api_set_host.empty()) way.push_back(distinct_text(slot.api_set_host));
  for (const auto& step : document.plan.targets[slot.target].forwarders) {
    const auto& tables = document.tables(step.module);
    const auto& entry = tables.exports[step.exported];
    way.push_back(fmt::format("{}!{}", tables.name, function_text(entry.name, entry.ordinal)));
    if (!step.api_set_host.empty()) way.push_back(distinct_text(step.api_set_host));
  }
  return way;
}

std::string_view protection_of(const pe::ModuleTables& tables, const pe::ImportSlot& slot) {
  if (!tables.is_writable(slot)) return "read-only";
  return tables.must_unprotect(slot) ? "protected" : "writable";
}

void print_slot(Output& output, const IatDocument& document, const ResolvedSlot& resolved) {
  const auto& tables = document.tables(resolved.module);
  const auto& slot = tables.slots[resolved.slot];
  const auto& dll = tables.dlls[slot.dll];
  const auto& target = document.plan.targets[resolved.target];
  print(output, "  {:#010x}  {:<9}  {:<8}  {}!{}", value(slot.rva), protection_of(tables, slot),
        printable(section_of(tables, slot)),
        dll.name.data() == nullptr ? "(name cannot be read)" : name_text(dll.name),
        printable(slot.by_ordinal ? function_text({}, slot.ordinal)
                                  : function_text(slot.name, std::nullopt)));
  const bool direct = way_of(document, resolved).empty();
  if (!direct ||
      (target.outcome == Outcome::resolved && slot.name != target.name && !target.name.empty()))
    print(output, " -> {}", printable(target_text(document, target)));
  if (target.outcome != Outcome::resolved) print(output, ": {}", to_string(target.outcome));
  if (dll.delayed) output.write(", at the first call");
  if (slot.bound_address) {
    const auto current = is_binding_current(document, resolved);
    print(output, ", bound to {:#x}{}", *slot.bound_address,
          !current   ? ""
          : *current ? ""
                     : " of another build");
  }
  output.write("\n");
}

void print_misses(Output& output, const IatDocument& document, const PlannedModule& planned) {
  const auto& tables = document.tables(planned.module);
  if (!planned.dynamic.empty()) {
    std::vector<std::string> names;
    for (const auto& slot : planned.dynamic)
      names.push_back(printable(lookup_name(document, slot)));
    print(output, "  missed: functions that it finds at run time with {}\n",
          fmt::join(names, ", "));
  }
  if (!planned.slots.empty() && tables.runs_while_loaded())
    print(output, "  missed: calls while it is loaded ({}{}{})\n",
          tables.tls_callbacks > 0 ? counted(tables.tls_callbacks, "TLS callback", "TLS callbacks")
                                   : "",
          tables.tls_callbacks > 0 && tables.is_dll && value(tables.entry_point) != 0 ? ", " : "",
          tables.is_dll && value(tables.entry_point) != 0
              ? fmt::format("entry point {:#x}", value(tables.entry_point))
              : "");
  if (planned.own_functions.empty()) return;
  constexpr std::size_t most_shown = 8;
  std::vector<std::string> names;
  for (const auto index : planned.own_functions) {
    if (names.size() == most_shown) {
      names.push_back(
          fmt::format("and {} more", grouped(planned.own_functions.size() - most_shown)));
      break;
    }
    const auto& target = document.plan.targets[document.plan.functions[index].target];
    names.push_back(printable(function_text(target.name, target.ordinal)));
  }
  print(output, "  missed: its own calls of {}\n", fmt::join(names, ", "));
}

void print_function(Output& output, const IatDocument& document, const PlannedFunction& function) {
  const auto& target = document.plan.targets[function.target];
  print(output, "{}: modules that import it: {}, slots shown: {}{}\n",
        printable(target_text(document, target)), function.importers.size(), function.slots,
        target.outcome == Outcome::resolved ? "" : fmt::format(" ({})", to_string(target.outcome)));
  for (const auto module : function.indirect) {
    std::vector<std::string> names;
    for (const auto step : function.ways.path_from(module))
      names.push_back(printable(document.tables(step).name));
    print(output, "  only through another module: {}\n", fmt::join(names, " -> "));
  }
}

std::string optional_number(std::optional<u64> number) {
  return number ? fmt::format("{}", *number) : "";
}

}  // namespace

void write_iat_text(Output& output, const IatDocument& document) {
  for (const auto& planned : document.plan.modules) {
    const auto& module = document.module(planned.module);
    print(output, "{}: {}\n", printable(module.path), to_text(document.files.identity(module)));
    if (!planned.slots.empty())
      output.write(
          "  slot rva    access     section   imported function, and where its calls lead\n");
    for (const auto& slot : planned.slots) print_slot(output, document, slot);
    print_misses(output, document, planned);
    output.write("\n");
  }
  if (!document.selection.functions.empty()) {
    for (const auto& function : document.plan.functions) print_function(output, document, function);
    if (!document.silent.empty()) {
      std::vector<std::string> names;
      for (const auto& planned : document.silent)
        names.push_back(printable(document.tables(planned.module).name));
      print(output, "could find them at run time, but have no slot: {}\n", fmt::join(names, ", "));
    }
    output.write("\n");
  }
  u64 slots = 0;
  for (const auto& planned : document.plan.modules) slots += planned.slots.size();
  print(output, "{} read, {} unreadable; {} shown, {} of them unresolved\n",
        counted(document.set.modules().size(), "module", "modules"),
        grouped(document.set.unreadable().size()), counted(slots, "slot", "slots"),
        grouped(document.plan.unresolved));
}

void write_iat_csv(Output& output, const IatDocument& document) {
  output.write(
      "path,machine,pointer_size,slot_rva,slot_file_offset,slot_address,section,writable,"
      "must_unprotect,delayed,bound_address,dll,function,ordinal,hint,outcome,target_module,"
      "target_function,target_ordinal,target_rva,way\n");
  for (const auto& planned : document.plan.modules) {
    const auto& module = document.module(planned.module);
    const auto& tables = module.tables;
    for (const auto& resolved : planned.slots) {
      const auto& slot = tables.slots[resolved.slot];
      const auto& dll = tables.dlls[slot.dll];
      const auto& target = document.plan.targets[resolved.target];
      const bool found = target.outcome == Outcome::resolved;
      print(output, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
            csv_field(module.path), pe::to_string(tables.machine), tables.pointer_size,
            value(slot.rva), optional_number(slot.file_offset), tables.image_base + value(slot.rva),
            slot.section ? csv_field(tables.sections[*slot.section].name()) : "",
            tables.is_writable(slot), tables.must_unprotect(slot), dll.delayed,
            optional_number(slot.bound_address), csv_field(dll.name), csv_field(slot.name),
            slot.by_ordinal ? fmt::format("{}", slot.ordinal) : "",
            slot.by_ordinal ? "" : fmt::format("{}", slot.hint), to_string(target.outcome),
            csv_field(target_module(document, target)), csv_field(target.name),
            optional_number(target.ordinal), found ? fmt::format("{}", value(target.address)) : "",
            csv_field(fmt::format("{}", fmt::join(way_of(document, resolved), " "))));
    }
  }
}

}  // namespace coldtrace::cli
