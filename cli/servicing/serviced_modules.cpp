#include "cli/servicing/serviced_modules.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/command/each_file.hpp"
#include "cli/images/module_input.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_builder.hpp"
#include "coldtrace/syscall-map/servicing/serviced_files.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = std::size_t{1} << 20;

// The files of a folder and of those below it, by path.
std::vector<std::string> list_files(ServicedSide& side, Report& report) {
  auto listed = syscall_map::list_serviced_files(side.path, most_files);
  for (const auto& [path, error] : listed.unreadable) {
    if (path == side.path) throw Failure{fmt::format("{}: {}", side.path, error.message())};
    side.unreadable.push_back({path, error.message()});
    report.failed(path, error.message());
  }
  side.other_files = listed.other_files;
  side.findings.merge(listed.findings);
  return std::move(listed.files);
}

std::string place_of(const fs::path& path, const std::string& folder) {
  return (folder.empty() ? path.filename() : path.lexically_relative(folder)).generic_string();
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
  read.module = {path, place_of(path, folder), std::move(identity.identity), role};
  read.file = {std::move(identity.sha256), input->file->size(), std::move(input->findings())};
  return read;
}

}  // namespace

std::vector<std::string> ServicedSide::unread_places() const {
  std::vector<std::string> places;
  for (const auto& [file, why] : unreadable) places.push_back(place_of(file, path));
  return places;
}

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
  if (side.modules.empty()) throw Failure{fmt::format("{}: none of its modules can be read", path)};
  return side;
}

}  // namespace coldtrace::cli
