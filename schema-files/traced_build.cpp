#include "coldtrace/schema_files/traced_build.hpp"

namespace coldtrace::schema_files {

std::optional<WindowsBuild> traced_build(const tracefile::AnyTrace& trace) {
  if (const auto* const ctrace = trace.ctrace(); ctrace != nullptr) {
    const auto& version = ctrace->header().windows_version;
    return WindowsBuild{version[0], version[1], version[2]};
  }
  if (!trace.etl()->scan().has_header) return std::nullopt;
  const auto& header = trace.etl()->header();
  return WindowsBuild{header.major_version, header.minor_version, header.provider_version};
}

}  // namespace coldtrace::schema_files
