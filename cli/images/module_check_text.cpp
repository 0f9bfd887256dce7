#include "cli/images/module_check.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/hex.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::PointState;

std::string hex(const std::vector<u8>& bytes) {
  return core::to_hex(std::as_bytes(std::span{bytes}));
}

// "0x7ff812345678 (kernel32.dll!CreateFileW+0x5)"
std::string place(const ModuleCheck& check, u64 address) {
  const auto owner = pe::find_owner(check.owners, address);
  if (!owner) return fmt::format("{:#x}, in no known module", address);
  if (owner->symbol.empty())
    return fmt::format("{:#x} ({}+{:#x})", address, printable(owner->module), owner->offset);
  const auto behind = owner->symbol_offset == 0 ? "" : fmt::format("+{:#x}", owner->symbol_offset);
  return fmt::format("{:#x} ({}!{}{})", address, printable(owner->module), printable(owner->symbol),
                     behind);
}

std::string point_text(const syscall_map::HookPoint& point) {
  return fmt::format("{}{}{}", syscall_map::to_string(point.kind),
                     point.number ? fmt::format(" {:#x}", *point.number) : "",
                     point.name.empty() ? "" : " " + printable(point.name));
}

void write_change(Output& output, const ModuleCheck& check,
                  const syscall_map::ModuleChange& change) {
  const auto& function = change.function;
  const auto section = change.bytes.section;
  print(output, "{:#010x}  {}{}  {} in {}: {}", value(change.bytes.rva),
        function && !function->name.empty() ? printable(function->name)
        : function                          ? fmt::format("function {:#x}", value(function->start))
                                            : "no function",
        function ? fmt::format("+{:#x}", value(change.bytes.rva) - value(function->start)) : "",
        counted(change.bytes.size, "byte", "bytes"),
        section ? printable(check.file->image.sections()[*section].name()) : "headers",
        syscall_map::to_string(change.meaning.kind));
  if (change.meaning.target) print(output, " to {}", place(check, *change.meaning.target));
  if (change.meaning.via) print(output, ", through {:#x}", *change.meaning.via);
  if (change.rule) print(output, " at a site of {}", pe::to_string(*change.rule));
  output.write("\n");
  if (change.hook_point)
    print(output, "            hook point: {}\n",
          point_text(check.result.points.points[*change.hook_point]));
  print(output, "            before {}\n            after  {}\n", hex(change.before),
        hex(change.after));
  for (const auto& line : change.meaning.instructions)
    print(output, "                   {}\n", printable(line));
}

void write_service_value(Output& output, const ModuleCheck& check,
                         const syscall_map::ChangedServiceValue& found) {
  print(output, "{:#010x}  {} {}", value(found.rva), found.structure,
        syscall_map::to_string(found.member));
  if (found.number) print(output, " of {:#x}", *found.number);
  if (is_address(found.member)) {
    print(output, ": leads to {}", place(check, found.value));
    if (found.expected) print(output, "; should be {:#x}", *found.expected);
  } else {
    print(output, ": {}", found.value);
    if (found.expected) print(output, "; should be {}", *found.expected);
  }
  output.write("\n");
}

void write_head(Output& output, const ModuleCheck& check, const ModuleCheckOptions& options) {
  const auto& dump = *check.dump;
  const auto& bytes = check.result.comparison;
  print(output, "file  {}: {}\n", printable(options.file), to_text(check.identity));
  print(output, "dump  {}: {} layout, base {:#x}, by {}", printable(options.dump),
        dump.layout() == pe::Layout::file ? "file" : "memory", dump.base(),
        pe::to_string(dump.base_source()));
  if (dump.relocations() > 0)
    print(output, " ({} of {})", grouped(dump.agreeing_relocations()),
          counted(dump.relocations(), "relocation agrees", "relocations agree"));
  print(output,
        "\nbytes {} compared, {} in absent pages, {} beyond the end, {} writable, {} freed\n",
        grouped(bytes.compared_bytes), grouped(bytes.absent_bytes), grouped(bytes.missing_bytes),
        grouped(bytes.written_bytes), grouped(bytes.discarded_bytes));
  const auto& imports = check.result.imports;
  print(output, "imports {}, {} filled, {} absent\n", counted(imports.slots, "slot", "slots"),
        grouped(imports.filled), grouped(imports.absent));
  for (std::size_t i = 0; i < bytes.rules.size(); ++i) {
    const auto rule = static_cast<pe::PatchRule>(i);
    if (bytes.rules[i].changed > 0)
      print(output, "rule  {}: {} of {} changed; {}\n", pe::to_string(rule),
            grouped(bytes.rules[i].changed), counted(bytes.rules[i].sites, "site", "sites"),
            pe::explain(rule));
  }
  output.write("\n");
}

}  // namespace

void write_check_text(Output& output, const ModuleCheck& check, const ModuleCheckOptions& options) {
  const auto& result = check.result;
  write_head(output, check, options);
  for (const auto& change : result.changes) write_change(output, check, change);
  for (const auto& row : result.rows)
    print(output, "{:#010x}  {} entry {:#x} {}: leads to {}\n", value(row.rva),
          result.points.tables[row.table].name, row.number,
          row.name.empty() ? "-" : printable(row.name), place(check, row.target));
  for (const auto& found : result.service_values) write_service_value(output, check, found);
  for (const auto& slot : result.imports.misdirected)
    print(output, "{:#010x}  import {}!{}: {} ({})\n", value(slot.slot), printable(slot.module),
          slot.ordinal ? fmt::format("#{}", *slot.ordinal) : printable(slot.name),
          slot.fault == pe::SlotFault::zero ? "holds 0" : place(check, slot.address),
          pe::to_string(slot.fault));
  for (const auto& pointer : result.loader_pointers)
    print(output, "{:#010x}  {}: {} ({})\n", value(pointer.slot), pointer.name,
          pointer.fault == pe::SlotFault::zero ? "holds 0" : place(check, pointer.address),
          pe::to_string(pointer.fault));
  u64 changed = 0;
  u64 absent = 0;
  for (const auto state : result.states) {
    changed += state == PointState::changed ? 1U : 0U;
    absent += state == PointState::absent ? 1U : 0U;
  }
  print(output, "{}: {}, {}, {}, {}, {}; {} of {}, {} absent\n",
        result.hooked() ? "changed" : "same as the file",
        counted(result.changes.size(), "change", "changes"),
        counted(result.rows.size(), "service row", "service rows"),
        counted(result.service_values.size(), "service value", "service values"),
        counted(result.imports.misdirected.size(), "import", "imports"),
        counted(result.loader_pointers.size(), "loader pointer", "loader pointers"), changed,
        counted(result.states.size(), "hook point", "hook points"), absent);
}

}  // namespace coldtrace::cli
