#include "cli/hooks/table/hook_table_file.hpp"

#include "cli/command/standard_input.hpp"
#include "cli/command/text_input.hpp"
#include "cli/images/other_kind.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_builds.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_decoder.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookTable;

std::string describe(core::ByteView bytes) {
  const auto kind = core::recognize_bytes(bytes);
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
      report.failed(path, fmt::format("a hook table of version {}; only version {} is read",
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
