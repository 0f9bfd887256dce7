#include <fmt/format.h>

#include "registry/driver-check/rules.hpp"

namespace coldtrace::registry {
namespace {

using core::Severity;

void check_present(const ControlSets& sets, const char* value, std::optional<u64> number,
                   Severity severity, Problems& problems) {
  if (!number || *number == 0 || !sets.whole || sets.present.contains(*number)) return;
  problems.add(
      {"control-set-missing", severity, sets.key, value, fmt::format("{}", *number),
       fmt::format(
           "{} is {}, and ControlSet{:03} is not in the hive{}", value, *number, *number,
           value == std::string_view{"Current"}
               ? fmt::format("; {} is examined instead", sets.name.empty() ? "no set" : sets.name)
               : std::string{}),
       "Use a backup of the hive, or set the value to a control set that exists."});
}

}  // namespace

void check_control_sets(const Checked& checked, Problems& problems) {
  const auto& sets = checked.configuration.sets;
  if (sets.key.empty() || !sets.current) {
    problems.add(
        {"control-set-missing", Severity::warning, sets.key.empty() ? "SYSTEM\\Select" : sets.key,
         "Current", std::nullopt,
         fmt::format("the hive does not say which control set is the current one; {} is examined",
                     sets.name.empty() ? "no set" : sets.name),
         "Use a backup of the hive."});
  }
  check_present(sets, "Current", sets.current, Severity::warning, problems);
  check_present(sets, "Default", sets.default_, Severity::warning, problems);
  check_present(sets, "LastKnownGood", sets.last_known_good, Severity::info, problems);
  if (sets.current && sets.default_ && *sets.current != *sets.default_)
    problems.add({"control-set-differs", Severity::warning, sets.key, "Default",
                  fmt::format("{}", *sets.default_),
                  fmt::format("the machine ran with set {} and starts next with set {}: what is "
                              "reported here about set {} will not apply then",
                              *sets.current, *sets.default_, *sets.current),
                  "Compare both sets; a change that was made in one of them is not in the other."});
  if (sets.failed.value_or(0) != 0)
    problems.add(
        {"control-set-failed", Severity::warning, sets.key, "Failed",
         fmt::format("{}", *sets.failed),
         fmt::format("a start with set {} failed, and the last known good one was used",
                     *sets.failed),
         "Look for the driver that was installed or changed before that start: it is in the set "
         "that failed."});
  if (checked.configuration.before_windows_8 && sets.current &&
      sets.current == sets.last_known_good)
    problems.add(
        {"last-known-good", Severity::info, sets.key, "LastKnownGood",
         fmt::format("{}", *sets.last_known_good),
         "the current set is the last known good one: the last start used it, or nobody has logged "
         "on since",
         "A tracer that does not load in such a start is not running; log on once, and restart."});
}

}  // namespace coldtrace::registry
