#include "cli/hooks/trace_plan.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/hex.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::TraceEmulation;
using syscall_map::TracePoint;

std::string where(const TracePoint& point) {
  if (!point.rva) return "not found";
  return fmt::format("rva {:#x} by {}, file offset {}, address {:#x}", value(*point.rva),
                     to_string(point.source),
                     point.file_offset ? fmt::format("{:#x}", *point.file_offset) : "-",
                     point.address.value_or(0));
}

std::string flow_of(const TraceEmulation& emulation) {
  std::string text;
  const auto add = [&](bool holds, std::string_view word) {
    if (holds) text += fmt::format(", {}", word);
  };
  if (emulation.branch != syscall_map::BranchKind::none)
    text += fmt::format(", branch {}", to_string(emulation.branch));
  add(emulation.rip_relative, "RIP-relative");
  if (emulation.target) text += fmt::format(", target {:#x}", value(*emulation.target));
  add(emulation.reads_memory, "reads memory");
  add(emulation.writes_memory, "writes memory");
  add(emulation.moves_stack, "moves the stack");
  add(emulation.privileged, "privileged");
  return text;
}

void write_instruction(Output& output, const TracePoint& point) {
  const auto& emulation = point.emulation;
  print(output, "  instruction {} of {}: {}\n", core::to_hex(std::as_bytes(std::span{point.bytes})),
        counted(point.bytes.size(), "byte", "bytes"), printable(point.text));
  if (point.eligible())
    print(output, "  patch {:02x} -> {:02x}\n", point.bytes.front(), syscall_map::int3);
  print(output, "  to emulate: {} ({}), {}{}; the emulator of Windows 10 1903: {}\n",
        printable(emulation.mnemonic), printable(emulation.category),
        counted(emulation.prefix_bytes, "prefix byte", "prefix bytes"), flow_of(emulation),
        to_string(emulation.emulator));
  for (const auto rva : point.relocations)
    print(output, "  the loader adjusts the instruction at {:#x}\n", value(rva));
}

void write_point(Output& output, const TracePoint& point) {
  print(output, "{}: {}, {}\n", printable(point.requested), where(point),
        point.eligible() ? "eligible" : "refused");
  for (const auto& sentence : point.source_evidence)
    print(output, "  {}: {}\n", to_string(point.source), printable(sentence));
  for (const auto& refusal : point.refusals)
    print(output, "  {}: {}\n", to_string(refusal.code), printable(refusal.text));
  if (!point.section.empty()) print(output, "  section {}\n", printable(point.section));
  if (!point.names.empty())
    print(output, "  names {}\n", printable(fmt::format("{}", fmt::join(point.names, " "))));
  if (point.function)
    print(output, "  function at {:#x}{}{}\n", value(*point.function),
          point.function_name.empty() ? "" : ", ", printable(point.function_name));
  if (!point.evidence.empty())
    print(output, "  instruction boundary {}\n", to_string(point.boundary));
  for (const auto& sentence : point.evidence) print(output, "    {}\n", printable(sentence));
  if (!point.bytes.empty()) write_instruction(output, point);
}

}  // namespace

void write_trace_points_text(Output& output, const std::vector<TracePoint>& points) {
  for (const auto& point : points) write_point(output, point);
}

void write_trace_plan_text(Output& output, const TracePlan& plan) {
  print(output, "{}: {}\n", printable(plan.path), to_text(plan.identity));
  print(output, "the trace points of Windows 10 1903: {}, {}\n", to_string(plan.facility.state),
        plan.facility.verified ? "verified" : "unverified");
  for (const auto& sentence : plan.facility.evidence) print(output, "  {}\n", printable(sentence));
  write_trace_points_text(output, plan.points);
  for (const auto& driver : plan.drivers)
    print(output, "driver {}: {}, {}linked with /INTEGRITYCHECK{}\n", printable(driver.path),
          to_text(driver.identity), driver.check.integrity_check ? "" : "not ",
          driver.check.same_machine ? "" : ", not for the kernel's machine");
}

}  // namespace coldtrace::cli
