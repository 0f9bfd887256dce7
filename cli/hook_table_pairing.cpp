#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/hook_table_input.hpp"
#include "syscall-map/agreement.hpp"
#include "syscall-map/hook_table_encoder.hpp"
#include "syscall-map/service_map.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;
using syscall_map::ImageRole;

constexpr u64 largest_image = u64{1} << 30;

// An open image, for a closer look at one of several candidates.
struct OpenImage {
  std::unique_ptr<core::LazyFile> file;
  pe::Image image;
};

std::optional<OpenImage> open_image(const std::string& path) {
  auto file = core::LazyFile::open(path, largest_image);
  if (!file) return std::nullopt;
  core::Findings findings;  // told when the file is read for its table
  auto image = pe::Image::open(**file, pe::Layout::file, findings);
  if (!image) return std::nullopt;
  return OpenImage{std::move(*file), std::move(*image)};
}

bool starts_with_mz(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  char magic[2]{};
  return file.read(magic, 2) && magic[0] == 'M' && magic[1] == 'Z';
}

std::vector<syscall_map::Service> services_of(const std::string& path) {
  const auto open = open_image(path);
  if (!open) return {};
  return syscall_map::map_services(open->image).services;
}

std::string folder_of(const BuildFile& file) {
  return fs::path{file.path}.parent_path().string();
}

bool same_image(const BuildFile& a, const BuildFile& b) {
  return a.role == b.role && syscall_map::same_kernel(a.identity, b.identity);
}

class Pairing {
 public:
  explicit Pairing(std::vector<BuildFile> files) : files_{std::move(files)}, used_(files_.size()) {}

  PairedFiles pair() {
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (files_[i].role == ImageRole::kernel) add_kernel(i);
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (!used_[i]) leave(files_[i], "no kernel of its machine is beside it or of its version");
    return std::move(paired_);
  }

 private:
  void leave(const BuildFile& file, std::string reason) {
    paired_.findings.warning("image-unpaired", std::nullopt, "{}: {}", file.path, reason);
    paired_.unpaired.push_back({file, std::move(reason)});
  }

  void add_kernel(std::size_t index) {
    const auto& kernel = files_[index];
    used_[index] = true;
    for (const auto& build : paired_.builds)
      if (same_image(build.front(), kernel)) {
        paired_.findings.info("image-twice", std::nullopt, "{} is the same image as {}",
                              kernel.path, build.front().path);
        take_copies(build, kernel);
        return;
      }
    BuildFiles build{kernel};
    for (const auto role : {ImageRole::ntdll, ImageRole::win32u, ImageRole::win32k,
                            ImageRole::win32kbase, ImageRole::win32kfull})
      add_partner(build, role);
    if (build.size() == 1 || build[1].role != ImageRole::ntdll)
      leave(kernel, "no ntdll of its machine is beside it or of its version");
    paired_.builds.push_back(std::move(build));
  }

  // What lies beside a copy of a kernel is a copy too.
  void take_copies(const BuildFiles& build, const BuildFile& kernel) {
    for (std::size_t i = 0; i < files_.size(); ++i)
      for (const auto& file : build)
        if (same_image(file, files_[i]) && folder_of(files_[i]) == folder_of(kernel))
          used_[i] = true;
  }

  std::vector<std::size_t> candidates(const BuildFile& kernel, ImageRole role) const {
    std::vector<std::size_t> beside, same_version;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto& file = files_[i];
      if (file.role != role || file.identity.machine != kernel.identity.machine) continue;
      if (folder_of(file) == folder_of(kernel)) beside.push_back(i);
      if (file.identity.file_version && file.identity.file_version == kernel.identity.file_version)
        same_version.push_back(i);
    }
    return beside.empty() ? same_version : beside;
  }

  void add_partner(BuildFiles& build, ImageRole role) {
    auto found = candidates(build.front(), role);
    if (found.empty()) return;
    if (found.size() > 1) found = narrow(build.front(), role, std::move(found));
    for (const auto index : found) used_[index] = true;
    const auto& first = files_[found.front()];
    const bool one = std::all_of(found.begin(), found.end(), [&](std::size_t index) {
      return same_image(files_[index], first);
    });
    if (one) {
      build.push_back(first);
      return;
    }
    for (const auto index : found)
      leave(files_[index],
            fmt::format("several {} files fit {}, and nothing tells which is its own",
                        to_string(role), build.front().path));
  }

  // Those of several that number their services as the kernel does; all where none can be told.
  std::vector<std::size_t> narrow(const BuildFile& kernel, ImageRole role,
                                  std::vector<std::size_t> found) const {
    if (role != ImageRole::ntdll) return found;
    const auto own = services_of(kernel.path);
    std::vector<std::size_t> agreeing;
    for (const auto index : found)
      if (syscall_map::compare_sides(services_of(files_[index].path), own).trusted())
        agreeing.push_back(index);
    return agreeing.empty() ? found : agreeing;
  }

  std::vector<BuildFile> files_;
  std::vector<bool> used_;
  PairedFiles paired_;
};

}  // namespace

std::optional<BuildFile> read_build_file(const std::string& path) {
  const auto open = open_image(path);
  if (!open) return std::nullopt;
  core::Findings findings;
  auto identity = pe::read_identity(open->image, findings);
  const auto role = syscall_map::find_image_role(identity);
  if (!role) return std::nullopt;
  return BuildFile{path, *role, std::move(identity)};
}

std::vector<BuildFile> find_build_files(const std::string& folder) {
  std::error_code error;
  fs::recursive_directory_iterator entry{folder, fs::directory_options::skip_permission_denied,
                                         error};
  if (error) throw Failure{fmt::format("{}: {}", folder, error.message())};
  std::vector<std::string> paths;
  for (; entry != fs::recursive_directory_iterator{}; entry.increment(error)) {
    if (error) throw Failure{fmt::format("{}: {}", folder, error.message())};
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && starts_with_mz(entry->path()))
      paths.push_back(entry->path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<BuildFile> files;
  for (const auto& path : paths)
    if (auto file = read_build_file(path)) files.push_back(std::move(*file));
  return files;
}

PairedFiles pair_build_files(std::vector<BuildFile> files) {
  return Pairing{std::move(files)}.pair();
}

}  // namespace coldtrace::cli
