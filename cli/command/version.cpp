#include "cli/command/version.hpp"

#include "cli/command/commit.hpp"
#include "cli/sandbox/sandbox.hpp"

namespace coldtrace::cli {

std::string version_text() {
  return std::string{tool_version} +
         "\ncommit " COLDTRACE_COMMIT "\nE01 images: " COLDTRACE_EWF
         "\npacked traces: " COLDTRACE_PACKINGS "\nSQLite databases: " COLDTRACE_SQLITE
         "\npe info --details: " COLDTRACE_DETAILS "\nsandbox: " +
         sandbox_text();
}

}  // namespace coldtrace::cli
