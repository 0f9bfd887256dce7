#include "cli/hooks/table/build_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/command/each_file.hpp"
#include "cli/images/pe_input.hpp"
#include "coldtrace/syscall-map/hook_table_builder.hpp"
#include "coldtrace/syscall-map/kernel_view.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;
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

bool starts_with_mz(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  char magic[2]{};
  return file.read(magic, 2) && magic[0] == 'M' && magic[1] == 'Z';
}

bool same_bytes(const HookTableImage& a, const HookTableImage& b) {
  const auto one = core::read_whole_file(a.path, largest_image);
  const auto other = core::read_whole_file(b.path, largest_image);
  return one && other && *one == *other;
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
                                              std::optional<pe::Layout> layout) {
  const auto open = open_image(path, layout);
  if (!open) return std::nullopt;
  core::Findings findings;
  auto identity = pe::read_identity(open->image, findings);
  const auto role = syscall_map::find_image_role(identity);
  if (!role) return std::nullopt;
  return HookTableImage{*role, path, std::move(identity), std::nullopt};
}

namespace {

void add_images(const std::string& folder, std::vector<std::string>& paths) {
  std::error_code error;
  fs::recursive_directory_iterator entry{folder, fs::directory_options::skip_permission_denied,
                                         error};
  if (error) throw Failure{fmt::format("{}: {}", folder, error.message())};
  for (; entry != fs::recursive_directory_iterator{}; entry.increment(error)) {
    if (error) throw Failure{fmt::format("{}: {}", folder, error.message())};
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && starts_with_mz(entry->path()))
      paths.push_back(entry->path().string());
  }
}

}  // namespace

std::vector<HookTableImage> find_build_files(const std::vector<std::string>& folders,
                                             std::optional<pe::Layout> layout,
                                             TerminalProgress& progress) {
  std::vector<std::string> paths;
  for (const auto& folder : folders) add_images(folder, paths);
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::vector<HookTableImage> files;
  progress.begin("reading", "files", size_of_files(paths));
  for (const auto& path : paths) {
    if (auto file = read_build_file(path, layout)) files.push_back(std::move(*file));
    progress.add(size_of_file(path), 1);
  }
  return files;
}

}  // namespace coldtrace::cli
