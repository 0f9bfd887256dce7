#include "cli/hooks/table/build_files.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/command/each_file.hpp"
#include "cli/images/module_input.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/folder_files.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_builder.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookTableImage;

// An open image, for a closer look at one of several candidates.
struct OpenImage {
  std::unique_ptr<core::LazyFile> file;
  pe::Image image;
};

std::optional<OpenImage> open_image(const std::string& path, std::optional<pe::Layout> layout) {
  auto file = core::LazyFile::open(path, largest_image);
  if (!file) return std::nullopt;
  core::Findings findings;  // told when the file is read for its table
  auto image = pe::Image::open(**file, layout, findings);
  if (!image) return std::nullopt;
  return OpenImage{std::move(*file), std::move(*image)};
}

core::Result<bool> starts_with_mz(const std::string& path) {
  const auto file = COLDTRACE_TRY(core::FileImage::open(path));
  std::array<std::byte, 2> magic{};
  if (file->size() < magic.size()) return false;
  COLDTRACE_TRY(file->read_at(0, magic));
  return magic == std::array{std::byte{'M'}, std::byte{'Z'}};
}

bool same_bytes(const HookTableImage& a, const HookTableImage& b) {
  const auto one = core::FileImage::open(a.path);
  const auto other = core::FileImage::open(b.path);
  return one && other && core::has_same_bytes(**one, **other).value_or(false);
}

}  // namespace

syscall_map::ImageContents image_contents(std::optional<pe::Layout> layout) {
  return {[layout](const HookTableImage& image) {
            const auto open = open_image(image.path, layout);
            return open ? syscall_map::KernelView{open->image}.services().services
                        : std::vector<syscall_map::Service>{};
          },
          same_bytes};
}

std::optional<HookTableImage> read_build_file(const std::string& path,
                                              std::optional<pe::Layout> layout,
                                              std::optional<std::string>& unreadable) {
  PeOptions options;
  options.layout = layout;
  const auto module = open_module(path, options, unreadable);
  if (!module) return std::nullopt;
  core::Findings findings;  // told when the file is read for its table
  auto identity = pe::read_identity(module->image, findings);
  const auto role = syscall_map::find_image_role(identity);
  if (!role) return std::nullopt;
  return HookTableImage{*role, path, std::move(identity), std::nullopt};
}

std::vector<HookTableImage> find_build_files(const std::vector<std::string>& folders,
                                             std::optional<pe::Layout> layout, Report& report,
                                             core::Findings& findings, TerminalProgress& progress) {
  constexpr std::size_t most_files = std::size_t{1} << 20;
  std::vector<std::string> paths;
  for (const auto& folder : folders) {
    auto found = core::find_files_below(folder, most_files, findings);
    if (!found) throw Failure{fmt::format("{}: {}", folder, to_message(found.error()))};
    if (found->has_more)
      throw Failure{fmt::format("{}: more than {} files are below it", folder, most_files)};
    for (auto& path : found->files) {
      const auto is_image = starts_with_mz(path);
      if (!is_image) report.failed(path, to_message(is_image.error()));
      if (is_image && *is_image) paths.push_back(std::move(path));
    }
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::vector<HookTableImage> files;
  progress.begin("reading", "files", size_of_files(paths));
  for (const auto& path : paths) {
    std::optional<std::string> unreadable;
    if (auto file = read_build_file(path, layout, unreadable)) files.push_back(std::move(*file));
    if (unreadable) report.failed(path, *unreadable);
    progress.add(size_of_file(path), 1);
  }
  return files;
}

}  // namespace coldtrace::cli
