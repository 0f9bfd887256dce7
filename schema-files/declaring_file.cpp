#include "schema-files/declaring_file.hpp"

namespace coldtrace::schema_files {

void tell_of_file(const std::string& path, const core::Findings& found, core::Findings& findings) {
  for (const auto& finding : found.all()) {
    if (finding.severity == core::Severity::warning)
      findings.warning(finding.code, finding.first_offset, "{}: {}", path, finding.text);
    else
      findings.info(finding.code, finding.first_offset, "{}: {}", path, finding.text);
  }
}

}  // namespace coldtrace::schema_files
