#include "coldtrace/registry/recovery/log_names.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <system_error>

#include "coldtrace/core/folder_files.hpp"
#include "coldtrace/registry/hive/key.hpp"

namespace coldtrace::registry {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path{"."};
}

bool is_numbered(const std::string& log) {
  return !lower(log).ends_with(".log");
}

std::vector<std::string> find_logs_beside(const fs::path& hive, core::Findings& findings) {
  const auto folder = folder_of(hive);
  const auto entries = core::list_folder(folder);
  if (!entries) {
    if (!core::is_no_folder(entries.error()))
      findings.warning("folder-unreadable", std::nullopt,
                       "{}: cannot be listed: {}; logs of {} that lie there are not read",
                       folder.string(), entries.error().message(), hive.filename().string());
    return {};
  }
  std::vector<std::string> names;
  for (const auto& entry : *entries) names.push_back(entry.path().filename().string());
  auto logs = choose_log_names(hive.filename().string(), names);
  for (auto& log : logs) log = (hive.parent_path() / log).string();
  return logs;
}

}  // namespace

bool is_log_name(std::string_view hive, std::string_view name) {
  const auto own = lower(name);
  const auto start = lower(hive) + ".log";
  return own == start || own == start + "1" || own == start + "2";
}

std::vector<std::string> choose_log_names(std::string_view hive,
                                          const std::vector<std::string>& names) {
  std::vector<std::string> logs;
  std::ranges::copy_if(names, std::back_inserter(logs),
                       [&](const std::string& name) { return is_log_name(hive, name); });
  std::ranges::sort(logs);
  if (std::ranges::any_of(logs, is_numbered)) std::erase_if(logs, std::not_fn(is_numbered));
  return logs;
}

std::vector<std::string> find_logs(const std::string& hive, core::Findings& findings) {
  auto logs = find_logs_beside(hive, findings);
  std::error_code error;
  if (const auto target = fs::canonical(hive, error);
      logs.empty() && !error && fs::is_symlink(hive, error))
    logs = find_logs_beside(target, findings);
  return logs;
}

bool is_log_path(const std::string& hive, const std::string& path) {
  std::error_code error;
  return !path.empty() &&
         is_log_name(fs::path{hive}.filename().string(), fs::path{path}.filename().string()) &&
         fs::equivalent(folder_of(hive), folder_of(path), error);
}

}  // namespace coldtrace::registry
