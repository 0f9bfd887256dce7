#include "schema-files/declaring_file.hpp"

namespace coldtrace::schema_files {

void tell_of_file(const std::string& path, const core::Findings& found, core::Findings& findings) {
  for (auto finding : found.all()) {
    finding.text = path + ": " + finding.text;
    findings.merge(std::move(finding));
  }
}

}  // namespace coldtrace::schema_files
