#include "cli/command/version.hpp"

#include "cli/command/commit.hpp"
#include "cli/output/libzstd.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "coldtrace/ntfs/containers/virtual_disk.hpp"

namespace coldtrace::cli {

namespace {

std::string installed(std::string_view library, bool is) {
  return "through " + std::string{library} + (is ? "" : ", which is not installed");
}

std::string disk_images() {
  std::string text;
  for (const auto& reader : ntfs::disk_readers())
    text += "\n" + reader.images + ": " + installed(reader.library, reader.installed);
  return text;
}

}  // namespace

std::string version_text() {
  return std::string{tool_version} + "\ncommit " COLDTRACE_COMMIT "\nE01 images: " COLDTRACE_EWF +
         disk_images() + "\nzstd output: " + installed("libzstd", libzstd() != nullptr) +
         "\ncompressed traces: " COLDTRACE_PACKINGS "\nSQLite databases: " COLDTRACE_SQLITE
         "\nsymbol tables in xz: " COLDTRACE_XZ "\npe info --details: " COLDTRACE_DETAILS
         "\nsandbox: " +
         sandbox_text();
}

}  // namespace coldtrace::cli
