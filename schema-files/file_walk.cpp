#include "schema-files/file_walk.hpp"

#include <filesystem>
#include <system_error>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/folder_files.hpp"

namespace coldtrace::schema_files {

namespace {

constexpr std::size_t most_files = std::size_t{1} << 20;

}  // namespace

std::vector<std::string> list_files(const std::string& path, core::Findings& findings) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  auto found = core::find_files_below(path, most_files, findings);
  if (!found) {
    findings.warning("schema-file", std::nullopt, "{} cannot be listed: {}", path,
                     reason_of(found.error()));
    return {};
  }
  if (found->has_more)
    findings.warning("schema-limit", std::nullopt,
                     "{} has more than {} files; the others are left out", path, most_files);
  return std::move(found->files);
}

core::Result<std::vector<std::byte>> read_start(const std::string& path, std::size_t most) {
  const auto file = core::FileImage::open(path);
  if (!file) return core::fail(file.error());
  std::vector<std::byte> start(std::min<u64>((*file)->size(), most));
  if (const auto done = (*file)->read_at(0, start); !done) return core::fail(done.error());
  return start;
}

std::string reason_of(const core::ParseError& error) {
  if (error.fault == core::Fault::io && error.offset == 0)
    return std::generic_category().message(static_cast<int>(error.found));
  return to_string(error);
}

}  // namespace coldtrace::schema_files
