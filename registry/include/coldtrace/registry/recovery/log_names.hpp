#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::registry {

// Whether a file is called as a log of a hive is: as the hive with ".LOG", ".LOG1" or ".LOG2"
// behind, in any case.
[[nodiscard]] bool is_log_name(std::string_view hive, std::string_view name);

// Those of the files beside a hive that are its logs, sorted: ".LOG1" and ".LOG2", or ".LOG" where
// neither is there. Since Vista there are two, and what is called .LOG is left over from setup.
[[nodiscard]] std::vector<std::string> choose_log_names(std::string_view hive,
                                                        const std::vector<std::string>& names);

// The paths of the logs that lie beside a hive; of a link those beside what it leads to, where none
// lie beside itself. A folder that cannot be listed is the warning `folder-unreadable`.
[[nodiscard]] std::vector<std::string> find_logs(const std::string& hive, core::Findings& findings);

// Whether a file of this path would be taken for a log of the hive.
[[nodiscard]] bool is_log_path(const std::string& hive, const std::string& path);

}  // namespace coldtrace::registry
