#include <algorithm>

#include <fmt/format.h>

#include "registry/driver-check/rules.hpp"

namespace coldtrace::registry {
namespace {

using core::Severity;

const char* const removal =
    "If the session is no longer wanted, remove its key; to keep it without starting it, set Start "
    "to 0.";

void check_providers(const Checked& checked, const Autologger& session, Problems& problems) {
  const auto enabled = std::count_if(session.providers.begin(), session.providers.end(),
                                     [](const auto& provider) { return provider.is_enabled(); });
  if (enabled == 0 && !session.kernel_flags)
    problems.add({"autologger-empty", Severity::info, session.key, "", session.name,
                  "the session starts at boot, but its key enables no provider: its buffers are "
                  "wasted, unless a program enables providers later, as for Windows' own sessions",
                  removal});
  for (const auto& provider : session.providers) {
    if (!provider.is_enabled()) continue;
    const auto key = session.key + '\\' + provider.guid;
    if (provider.name.empty() && checked.configuration.has_software)
      problems.add(
          {"autologger-provider-unknown", Severity::info, key, "Enabled", provider.guid,
           "the provider has no publisher in SOFTWARE and no name known to coldtrace: it was "
           "uninstalled, or never registered, like providers of TraceLogging and WPP",
           "Find out which program the provider belongs to, or remove its key from the session."});
    if (!has_text(provider.resource_file)) continue;
    const auto file =
        to_windows_path(*provider.resource_file, PathUse::dll, checked.configuration.windows);
    if (checked.lacks(file))
      problems.add(
          {"autologger-provider-file", Severity::warning, provider.publisher_key,
           "ResourceFileName", provider.resource_file,
           fmt::format("the session {} enables {}, whose file is missing: {}", session.name,
                       provider.name.empty() ? provider.guid : provider.name, file.text()),
           "Remove the provider's key from the session, and the publisher with wevtutil um, or "
           "reinstall the program."});
  }
}

void check_target(const Checked& checked, const Autologger& session, Problems& problems) {
  if (!has_text(session.file)) return;
  const auto file = to_windows_path(*session.file, PathUse::dll, checked.configuration.windows);
  const auto folder = parent_of(file);
  if (folder.path.empty() || !checked.lacks(folder, FileKind::folder)) return;
  problems.add({"autologger-folder-missing", Severity::warning, session.key, "FileName",
                session.file,
                fmt::format("the folder of its file is missing: {}; the session does not start",
                            folder.text()),
                "Create the folder, or name another file."});
}

}  // namespace

void check_autologgers(const Checked& checked, Problems& problems) {
  const auto& configuration = checked.configuration;
  for (const auto& session : configuration.autologgers) {
    if (!session.is_enabled()) continue;
    check_providers(checked, session, problems);
    check_target(checked, session, problems);
  }
  if (configuration.global_logger_start.value_or(0) != 0)
    problems.add({"global-logger", Severity::info, configuration.global_logger_key, "Start",
                  fmt::format("{}", *configuration.global_logger_start),
                  "the global logger traces the kernel from the next boot on",
                  "Set Start to 0 once the trace is recorded."});
}

}  // namespace coldtrace::registry
