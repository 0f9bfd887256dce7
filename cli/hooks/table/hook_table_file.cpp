#include "cli/hooks/table/hook_table_file.hpp"

#include <algorithm>

#include "cli/command/standard_input.hpp"
#include "cli/command/text_input.hpp"
#include "cli/images/other_kind.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/syscall-map/hook_table_decoder.hpp"
#include "coldtrace/syscall-map/hook_table_differences.hpp"
#include "coldtrace/syscall-map/hook_table_encoder.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookTable;

const pe::Identity& kernel_of(const HookTable& build) {
  return syscall_map::find_kernel(build)->identity;
}

// Adds a build, unless one of this kernel is there: then it must say the same.
void add_build(std::vector<HookTable>& builds, HookTable build, core::Findings& findings) {
  const auto known = std::find_if(builds.begin(), builds.end(), [&](const HookTable& other) {
    return pe::same_headers(kernel_of(other), kernel_of(build));
  });
  if (known == builds.end()) {
    builds.push_back(std::move(build));
    return;
  }
  // A plan is of who made it, not of the build: one table may have it and the other not.
  if (known->trace_points.empty()) known->trace_points = build.trace_points;
  if (build.trace_points.empty()) build.trace_points = known->trace_points;
  const auto differences = syscall_map::compare_hook_tables(*known, build);
  if (differences.empty())
    findings.info("image-twice", std::nullopt,
                  "the build of the kernel with stamp {:#010x} is in an earlier table, with the "
                  "same values",
                  kernel_of(build).time_date_stamp);
  else
    findings.warning("build-conflict", std::nullopt,
                     "the build of the kernel with stamp {:#010x} has {} other values than in an "
                     "earlier table, which is kept; the first is {}",
                     kernel_of(build).time_date_stamp, differences.size(),
                     differences.front().path);
}

std::string describe(core::ByteView bytes) {
  const auto kind = core::recognize_file(core::FileView{bytes});
  if (kind == core::FileKind::json || kind == core::FileKind::coldtrace_json)
    return fmt::format("it is {}, not a binary hook table: write it with --format hooktab",
                       to_string(kind));
  return describe_other(kind, "a hook table");
}

}  // namespace

std::optional<std::vector<syscall_map::HookTable>> read_hook_table_file(const std::string& path,
                                                                        Report& report) {
  const auto bytes =
      read_unpacked(readable_path(path), syscall_map::largest_hook_table, "a hook table");
  if (!bytes) {
    report.failed(path, bytes.error());
    return std::nullopt;
  }
  return decode_hook_table_file(path, *bytes, report);
}

std::optional<std::vector<syscall_map::HookTable>> decode_hook_table_file(
    const std::string& path, const std::vector<std::byte>& bytes, Report& report) {
  if (!syscall_map::is_hook_table(bytes)) {
    report.failed(path, describe(bytes));
    return std::nullopt;
  }
  auto tables = syscall_map::decode_hook_tables(bytes);
  if (!tables) {
    const auto& error = tables.error();
    if (error.fault == core::Fault::unsupported && error.field.view() == "major_version")
      report.failed(path, fmt::format("a hook table of version {}, of which only {} is read",
                                      error.found, error.expected));
    else
      report.failed(path, error);
    return std::nullopt;
  }
  return std::move(*tables);
}

std::vector<HookTable> read_hook_table_files(const std::vector<std::string>& paths,
                                             Report& report) {
  std::vector<HookTable> builds;
  for (const auto& path : paths) {
    auto table = read_hook_table_file(path, report);
    if (!table) continue;
    core::Findings findings;
    for (auto& build : *table) add_build(builds, std::move(build), findings);
    report.read(path, findings);
  }
  return builds;
}

}  // namespace coldtrace::cli
