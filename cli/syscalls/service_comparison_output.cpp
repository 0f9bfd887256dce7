#include "cli/syscalls/service_comparison_output.hpp"

#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::Comparison;
using Kind = syscall_map::ServiceChange::Kind;

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::inserted:
      return "inserted";
    case Kind::removed:
      return "removed";
    case Kind::moved:
      return "moved";
    case Kind::changed:
      return "changed";
  }
  return "";
}

std::string describe(const syscall_map::ServiceChange& change) {
  auto name = printable(change.name);
  switch (change.kind) {
    case Kind::inserted:
      return fmt::format("{} inserted at {:#x}", name, *change.after);
    case Kind::removed:
      return fmt::format("{} removed, was {:#x}", name, *change.before);
    case Kind::moved:
      return fmt::format("{} moved from {:#x} to {:#x}", name, *change.before, *change.after);
    case Kind::changed:
      return fmt::format("{}: {}", name, change.detail);
  }
  return name;
}

}  // namespace

void write_service_comparison(Output& output, const Comparison& comparison,
                              std::string_view indent) {
  auto shift = comparison.shifts.begin();
  bool open = false;
  const auto write_shifts_below = [&](i32 number) {
    for (; shift != comparison.shifts.end() && shift->first_before + shift->distance < number;
         ++shift) {
      print(output, "{}{} from {:#x} to {:#x} {} by {:+}", open ? "; " : indent,
            counted(shift->count, "number", "numbers"), shift->first_before, shift->last_before,
            shift->count == 1 ? "shifts" : "shift", shift->distance);
      output.write("\n");
      open = false;
    }
  };
  for (const auto& change : comparison.changes) {
    write_shifts_below(change.after.value_or(change.before.value_or(0)));
    print(output, "{}{}{}", open ? "\n" : "", indent, describe(change));
    open = true;
  }
  write_shifts_below(0x10000);
  if (open) output.write("\n");
}

void write_service_comparison(JsonWriter& json, const Comparison& comparison) {
  json.field("common", comparison.common)
      .field("renumbered", comparison.renumbered)
      .key("changes")
      .begin_array();
  for (const auto& change : comparison.changes) {
    json.begin_object()
        .field("kind", to_string(change.kind))
        .field("table", to_string(change.table))
        .field("name", FileText{change.name})
        .field("before", change.before)
        .field("after", change.after)
        .key("detail");
    if (change.detail.empty()) {
      json.value(nullptr);
    } else {
      json.value(change.detail);
    }
    json.end_object();
  }
  json.end_array().key("shifts").begin_array();
  for (const auto& shift : comparison.shifts)
    json.begin_object()
        .field("table", to_string(shift.table))
        .field("first_before", shift.first_before)
        .field("last_before", shift.last_before)
        .field("distance", shift.distance)
        .field("count", shift.count)
        .end_object();
  json.end_array();
}

}  // namespace coldtrace::cli
