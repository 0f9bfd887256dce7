#include "schema-files/file_walk.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "coldtrace/core/file.hpp"

namespace coldtrace::schema_files {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_files = std::size_t{1} << 20;

}  // namespace

std::vector<std::string> list_files(const std::string& path, core::Findings& findings) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  fs::recursive_directory_iterator entry{path, fs::directory_options::skip_permission_denied,
                                         error};
  std::vector<std::string> files;
  for (; !error && entry != fs::recursive_directory_iterator{}; entry.increment(error)) {
    std::error_code unknown;
    if (!entry->is_regular_file(unknown)) continue;
    if (files.size() == most_files) {
      findings.warning("schema-limit", std::nullopt,
                       "{} has more than {} files; the others are left out", path, most_files);
      break;
    }
    files.push_back(entry->path().string());
  }
  if (error)
    findings.warning("schema-file", std::nullopt, "{} cannot be listed: {}", path, error.message());
  std::sort(files.begin(), files.end());
  return files;
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
