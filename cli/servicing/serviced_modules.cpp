#include "cli/servicing/serviced_modules.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/command/each_file.hpp"
#include "cli/images/module_input.hpp"
#include "coldtrace/core/folder_files.hpp"
#include "coldtrace/syscall-map/hook_table_builder.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = std::size_t{1} << 20;

// The files of a folder and of those below it, by path.
std::vector<std::string> list_files(ServicedSide& side, Report& report) {
  using Kind = core::FolderEntry::Kind;
  std::vector<std::string> files;
  core::walk_folder(side.path, [&](const core::FolderEntry& entry) {
    switch (entry.kind) {
      case Kind::linked_folder:
        side.findings.info("servicing-links", std::nullopt,
                           "{}: a link to a folder, which is not followed", entry.path);
        break;
      case Kind::file:
        if (files.size() == most_files) {
          side.findings.warning("servicing-limit", std::nullopt,
                                "{} has more than {} files; others are left out", side.path,
                                most_files);
          return false;
        }
        files.push_back(entry.path);
        break;
      case Kind::other:
        ++side.other_files;
        break;
      case Kind::unlisted:
        if (entry.path == side.path)
          throw Failure{fmt::format("{}: {}", side.path, entry.error.message())};
        [[fallthrough]];
      case Kind::unknown:
        side.unreadable.push_back({entry.path, entry.error.message()});
        report.failed(entry.path, entry.error.message());
    }
    return true;
  });
  std::sort(files.begin(), files.end());
  return files;
}

struct ReadFile {
  std::optional<syscall_map::ServicedModule> module;
  ServicedFile file;
  std::optional<std::string> unreadable;
};

ReadFile read_file(const std::string& path, const std::string& folder,
                   const ServicingOptions& options) {
  ReadFile read;
  auto input = open_module(path, options, read.unreadable);
  if (!input) return read;
  auto identity = identify_with_hash(*input, options);
  identity.identity.version.reset();
  const auto role = syscall_map::find_image_role(identity.identity);
  const fs::path place =
      folder.empty() ? fs::path{path}.filename() : fs::path{path}.lexically_relative(folder);
  read.module = {path, place.generic_string(), std::move(identity.identity), role};
  read.file = {std::move(identity.sha256), input->file->size(), std::move(input->findings())};
  return read;
}

}  // namespace

ServicedSide read_serviced_side(const std::string& path, const ServicingOptions& options,
                                TerminalProgress& progress, Report& report) {
  ServicedSide side;
  side.path = path;
  std::error_code ignored;
  side.is_folder = fs::is_directory(path, ignored);
  const auto files = side.is_folder ? list_files(side, report) : std::vector{path};
  const auto folder = side.is_folder ? path : std::string{};
  progress.begin("reading", "files", size_of_files(files));
  for_each_file<ReadFile>(
      files, options.jobs, progress,
      [&](unsigned, const std::string& file, ReadFile& read) {
        read = read_file(file, folder, options);
      },
      [&](const std::string& file, ReadFile& read) {
        if (read.module) {
          side.modules.push_back(std::move(*read.module));
          side.files.push_back(std::move(read.file));
        } else if (read.unreadable) {
          side.unreadable.push_back({file, *read.unreadable});
          report.failed(file, *read.unreadable);
        } else {
          ++side.other_files;
        }
      });
  if (side.modules.empty() && side.unreadable.empty())
    throw Failure{fmt::format(
        "{}: {}", path,
        side.is_folder ? "no module (PE image) is in it or below it" : "not a PE image")};
  if (side.modules.empty()) throw Failure{fmt::format("{}: no module of it can be read", path)};
  return side;
}

}  // namespace coldtrace::cli
