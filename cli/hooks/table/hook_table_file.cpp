#include "cli/hooks/table/hook_table_file.hpp"

#include "cli/images/other_kind.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/syscall-map/hook_table_decoder.hpp"
#include "coldtrace/syscall-map/hook_table_encoder.hpp"

namespace coldtrace::cli {
namespace {

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
  const auto bytes = core::read_whole_file(path, syscall_map::largest_hook_table);
  if (!bytes) {
    report.failed(path, bytes.error());
    return std::nullopt;
  }
  if (!syscall_map::is_hook_table(*bytes)) {
    report.failed(path, describe(*bytes));
    return std::nullopt;
  }
  auto tables = syscall_map::decode_hook_tables(*bytes);
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

}  // namespace coldtrace::cli
