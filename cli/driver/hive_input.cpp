#include "cli/driver/hive_input.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/command/report.hpp"
#include "cli/command/text_input.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/registry/hive/key.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> find_logs_beside(const fs::path& hive) {
  std::vector<std::string> logs;
  const auto folder = hive.has_parent_path() ? hive.parent_path() : fs::path{"."};
  const auto name = registry::lower(hive.filename().string());
  std::error_code error;
  for (fs::directory_iterator entry{folder, error}; !error && entry != fs::directory_iterator{};
       entry.increment(error)) {
    const auto own = registry::lower(entry->path().filename().string());
    if (own == name + ".log" || own == name + ".log1" || own == name + ".log2")
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

// In words what a file is that is no hive.
std::string kind_of_file(const std::vector<std::byte>& bytes) {
  const core::MemoryImage image{core::ByteView{bytes}};
  return std::string{to_string(core::recognize_file(image))};
}

}  // namespace

std::unique_ptr<HiveInput> open_hive(const std::string& path) {
  auto input = std::make_unique<HiveInput>();
  input->path = path;
  auto bytes = core::read_whole_file(path, registry::Hive::largest);
  if (!bytes) throw Failure{fmt::format("{}: {}", path, to_message(bytes.error()))};
  input->log_paths = find_logs(path);
  std::vector<std::vector<std::byte>> contents;
  std::vector<registry::LogFile> logs;
  for (const auto& log : input->log_paths) {
    const auto name = fs::path{log}.filename().string();
    auto content = core::read_whole_file(log, registry::Hive::largest);
    const auto unread = content ? std::string{} : to_message(content.error());
    contents.push_back(content ? std::move(*content) : std::vector<std::byte>{});
    logs.push_back({name, contents.back(), unread});
  }
  auto recovery = registry::recover_hive(*bytes, logs, input->findings);
  if (!recovery)
    throw Failure{fmt::format("{}: it is no registry hive, it is {}", path, kind_of_file(*bytes))};
  const auto type = recovery->before.type;
  if (type == 1 || type == 2 || type == 6)
    throw Failure{fmt::format("{}: it is the log of a hive; give the hive it lies beside", path)};
  input->recovery = std::move(*recovery);
  auto hive = registry::Hive::open(std::move(*bytes), input->findings);
  if (!hive) throw Failure{fmt::format("{}: {}", path, hive.error())};
  input->hive = std::make_unique<registry::Hive>(std::move(*hive));
  if (const auto root = registry::Key::read_root(*input->hive, ""); !root)
    throw Failure{fmt::format("{}: the root key cannot be read: {}", path, root.error())};
  input->kind = registry::kind_of(*input->hive);
  if (input->kind == registry::HiveKind::other)
    throw Failure{fmt::format(
        "{}: it is neither a SYSTEM hive (no Select, no ControlSet001) nor a SOFTWARE hive (no "
        "SystemRoot in Microsoft\\Windows NT\\CurrentVersion)",
        path)};
  return input;
}

}  // namespace coldtrace::cli
