#include "cli/trace/control/trace_control.hpp"

#include <algorithm>
#include <charconv>

#include "cli/command/common_options.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/core/nearest_names.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::ControlLayout;
using tracefile::ControlStructure;
using tracefile::KernelVersion;
using tracefile::KernelVersions;

// Whether a range has the version, or any version will do.
bool wanted(KernelVersions versions, std::optional<KernelVersion> version) {
  return !version || versions.contains(*version);
}

void add_layouts(std::vector<const ControlLayout*>& layouts, ControlStructure structure,
                 std::optional<KernelVersion> version) {
  for (const auto& layout : tracefile::control_layouts())
    if (layout.structure == structure && wanted(layout.versions, version) &&
        std::find(layouts.begin(), layouts.end(), &layout) == layouts.end())
      layouts.push_back(&layout);
  for (const auto& field : tracefile::control_fields())
    if (field.structure == structure && wanted(field.versions, version))
      add_layouts(layouts, field.inner, version);
}

// Structures that follow the one of a buffer without being a part of it.
void add_following(std::vector<const ControlLayout*>& layouts, ControlStructure structure,
                   std::optional<KernelVersion> version) {
  switch (structure) {
    case ControlStructure::disallow_list:
      add_layouts(layouts, ControlStructure::disallow_entry, version);
      break;
    case ControlStructure::notification:
      add_layouts(layouts, ControlStructure::enable_notification, version);
      [[fallthrough]];
    case ControlStructure::registration:
      add_layouts(layouts, ControlStructure::filter_descriptor, version);
      add_layouts(layouts, ControlStructure::filter_header, version);
      break;
    default:
      break;
  }
}

}  // namespace

void add_trace_control(CLI::App& app, Exit& exit) {
  add_group(app, "control", "NtTraceControl: its function codes and their buffers",
            [&exit](CLI::App& group) {
              add_trace_control_list(group, exit);
              add_trace_control_explain(group, exit);
              add_trace_control_decode(group, exit);
            });
}

u32 parse_control_code(const std::string& text) {
  for (const auto& code : tracefile::control_codes())
    if (code.name == text) return code.code;
  const bool hexadecimal = text.rfind("0x", 0) == 0 || text.rfind("0X", 0) == 0;
  const char* end = text.data() + text.size();
  u32 code = 0;
  const auto parsed =
      std::from_chars(text.data() + (hexadecimal ? 2 : 0), end, code, hexadecimal ? 16 : 10);
  if (parsed.ec == std::errc{} && parsed.ptr == end) return code;
  std::vector<std::string_view> names;
  for (const auto& known : tracefile::control_codes()) names.push_back(known.name);
  throw Failure{
      fmt::format("'{}' is neither a 32-bit number nor a name in 'coldtrace trace control list'{}",
                  text, core::did_you_mean(text, names))};
}

void add_kernel_version(Command& command, std::string& version, const std::string& absent) {
  std::vector<std::string> names;
  for (const auto each : tracefile::kernel_versions) names.emplace_back(to_string(each));
  command.add_option("--windows", version, "Version of Windows; " + absent)
      .type_name("VERSION")
      .one_of(names);
}

std::string versions_text(KernelVersions versions) {
  if (versions.last == KernelVersion::v10_0)
    return fmt::format("{} and higher", to_string(versions.first));
  if (versions.first == versions.last) return fmt::format("{} only", to_string(versions.first));
  return fmt::format("{} to {}", to_string(versions.first), to_string(versions.last));
}

std::vector<const ControlLayout*> layouts_of(const tracefile::ControlCode& code,
                                             std::optional<KernelVersion> version) {
  std::vector<const ControlLayout*> layouts;
  for (const auto structure : {code.input_structure, code.output_structure}) {
    add_layouts(layouts, structure, version);
    add_following(layouts, structure, version);
  }
  return layouts;
}

}  // namespace coldtrace::cli
