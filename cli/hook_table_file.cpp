#include "cli/hook_table_file.hpp"

#include "core/file.hpp"
#include "core/text.hpp"
#include "syscall-map/hook_table_decoder.hpp"
#include "syscall-map/hook_table_encoder.hpp"

namespace coldtrace::cli {
namespace {

std::string recognize(core::ByteView bytes) {
  const auto text = core::to_chars(bytes);
  if (bytes.empty()) return "it is empty";
  if (text.find_first_not_of(" \t\r\n") != text.npos &&
      text[text.find_first_not_of(" \t\r\n")] == '{')
    return "it is JSON, not a binary hook table: write it with --format hooktab";
  if (text.starts_with("MZ")) return "it is a PE image, not a hook table";
  return "it is no hook table: it does not start with HOOKTAB";
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
    report.failed(path, recognize(*bytes));
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
