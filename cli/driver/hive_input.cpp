#include "cli/driver/hive_input.hpp"

#include <algorithm>
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

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path{"."};
}

bool is_log_of(const fs::path& hive, const fs::path& file) {
  const auto name = registry::lower(hive.filename().string());
  const auto own = registry::lower(file.filename().string());
  return own == name + ".log" || own == name + ".log1" || own == name + ".log2";
}

std::vector<std::string> find_logs_beside(const fs::path& hive) {
  std::vector<std::string> logs;
  const auto folder = folder_of(hive);
  std::error_code error;
  for (fs::directory_iterator entry{folder, error}; !error && entry != fs::directory_iterator{};
       entry.increment(error)) {
    if (is_log_of(hive, entry->path()))
      logs.push_back((hive.parent_path() / entry->path().filename()).string());
  }
  std::sort(logs.begin(), logs.end());
  // Since Vista there are two, and what is called .LOG is left over from setup.
  const auto is_numbered = [](const std::string& log) {
    return !registry::lower(log).ends_with(".log");
  };
  if (std::any_of(logs.begin(), logs.end(), is_numbered))
    std::erase_if(logs, [&](const std::string& log) { return !is_numbered(log); });
  return logs;
}

// Of a link those beside what it leads to, where none lie beside itself.
std::vector<std::string> find_logs(const std::string& path) {
  if (is_pipe(path)) return {};
  auto logs = find_logs_beside(path);
  std::error_code error;
  if (const auto target = fs::canonical(path, error);
      logs.empty() && !error && fs::is_symlink(path, error))
    logs = find_logs_beside(target);
  return logs;
}

// In words why a file is no hive.
std::string describe_no_hive(const std::vector<std::byte>& bytes, const core::ParseError& error) {
  const core::MemoryImage image{core::ByteView{bytes}};
  const auto kind = core::recognize_file(image);
  if (kind == core::FileKind::registry_hive) return to_message(error);
  return fmt::format("it is no registry hive, it is {}", to_string(kind));
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
  input->log_paths = find_logs(path);
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
  const auto type = recovery->before.type;
  if (type == 1 || type == 2 || type == 6)
    throw Failure{fmt::format("{}: it is the log of a hive; give the hive it lies beside", path)};
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

bool is_log_name(const std::string& hive, const std::string& path) {
  std::error_code error;
  return !path.empty() && is_log_of(hive, path) &&
         fs::equivalent(folder_of(hive), folder_of(path), error);
}

}  // namespace coldtrace::cli
