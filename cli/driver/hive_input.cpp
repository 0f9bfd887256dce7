#include "cli/driver/hive_input.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/command/report.hpp"
#include "cli/command/standard_input.hpp"
#include "cli/command/text_input.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/registry/hive/key.hpp"
#include "coldtrace/registry/recovery/log_names.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

// In words why a file is not a hive.
std::string describe_no_hive(const std::vector<std::byte>& bytes, const core::ParseError& error) {
  const auto kind = core::recognize_bytes(bytes);
  if (kind == core::FileKind::registry_hive) return to_message(error);
  return fmt::format("not a registry hive; it is {}", to_string(kind));
}

// That the file is cut off, where it is: what else is wrong with it follows from that.
std::string describe_cut(const core::Findings& findings) {
  for (const auto& finding : findings.all())
    if (finding.code == "hive-truncated") return finding.text + "; ";
  return {};
}

// A pipe would be waited for.
core::Result<std::vector<std::byte>> read_log(const std::string& path) {
  std::error_code error;
  if (const auto status = fs::status(path, error);
      !error && fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
    return core::fail(core::ParseError{core::Fault::unsupported, 0, "log", "file type"});
  return core::read_whole_file(path, registry::Hive::largest);
}

}  // namespace

std::unique_ptr<HiveInput> open_hive(const std::string& path) {
  auto input = std::make_unique<HiveInput>();
  input->path = path;
  auto bytes = core::read_whole_file(readable_path(path), registry::Hive::largest);
  if (!bytes) throw Failure{fmt::format("{}: {}", path, to_message(bytes.error()))};
  core::Findings of_logs;
  if (!is_pipe(path)) input->log_paths = registry::find_logs(path, of_logs);
  std::vector<std::vector<std::byte>> contents;
  std::vector<registry::LogFile> logs;
  for (const auto& log : input->log_paths) {
    const auto name = fs::path{log}.filename().string();
    auto content = read_log(log);
    const auto unread = content ? std::string{} : to_message(content.error());
    contents.push_back(content ? std::move(*content) : std::vector<std::byte>{});
    logs.push_back({name, contents.back(), unread});
  }
  auto recovery = registry::recover_hive(*bytes, logs, input->findings);
  if (!recovery)
    throw Failure{fmt::format("{}: {}", path, describe_no_hive(*bytes, recovery.error()))};
  if (recovery->before.is_dirty()) input->findings.merge(of_logs);  // a clean one needs none
  if (recovery->before.is_log())
    throw Failure{fmt::format("{}: it is the log of a hive; give the hive beside it", path)};
  input->recovery = std::move(*recovery);
  auto hive = registry::Hive::open(std::move(*bytes), input->findings);
  if (!hive) throw Failure{fmt::format("{}: {}", path, hive.error())};
  input->hive = std::make_unique<registry::Hive>(std::move(*hive));
  if (const auto root = registry::Key::read_root(*input->hive, ""); !root)
    throw Failure{fmt::format("{}: {}the root key cannot be read: {}", path,
                              describe_cut(input->findings), root.error())};
  input->kind = registry::kind_of(*input->hive);
  if (input->kind == registry::HiveKind::other)
    throw Failure{fmt::format(
        "{}: {}it is neither a SYSTEM hive (no Select, no ControlSet001) nor a SOFTWARE hive (no "
        "SystemRoot in Microsoft\\Windows NT\\CurrentVersion)",
        path, describe_cut(input->findings))};
  return input;
}

}  // namespace coldtrace::cli
