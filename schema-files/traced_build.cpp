#include "coldtrace/schema_files/traced_build.hpp"

namespace coldtrace::schema_files {

std::optional<WindowsBuild> traced_build(const tracefile::AnyTrace& trace) {
  const auto machine = trace.machine();
  if (!machine) return std::nullopt;
  const auto& [major, minor, number] = machine->windows_version;
  return WindowsBuild{major, minor, number};
}

}  // namespace coldtrace::schema_files
