#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::registry {

// Whether a file is named as a hive's log: the hive's name followed by ".LOG", ".LOG1" or ".LOG2",
// ignoring case.
[[nodiscard]] bool is_log_name(std::string_view hive, std::string_view name);

// Which of the files beside a hive are its logs, sorted: ".LOG1" and ".LOG2", or ".LOG" if neither
// exists. Since Vista there are two; a .LOG is then left over from setup.
[[nodiscard]] std::vector<std::string> choose_log_names(std::string_view hive,
                                                        const std::vector<std::string>& names);

// The paths of the logs beside a hive. If it is a link with none beside it, those beside its
// target. A folder that cannot be listed is the warning `folder-unreadable`.
[[nodiscard]] std::vector<std::string> find_logs(const std::string& hive, core::Findings& findings);

// Whether a file at this path would be taken for a log of the hive.
[[nodiscard]] bool is_log_path(const std::string& hive, const std::string& path);

}  // namespace coldtrace::registry
