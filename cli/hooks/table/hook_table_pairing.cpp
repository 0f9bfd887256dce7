#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/hooks/table/hook_table_input.hpp"
#include "syscall-map/hook-table/hook_table_encoder.hpp"
#include "syscall-map/stubs/agreement.hpp"
#include "syscall-map/stubs/service_mapper.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;
using syscall_map::ImageRole;

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

std::string folder_of(const BuildFile& file) {
  return fs::path{file.path}.parent_path().string();
}

bool same_content(const std::string& a, const std::string& b) {
  const auto one = core::read_whole_file(a, largest_image);
  const auto other = core::read_whole_file(b, largest_image);
  return one && other && *one == *other;
}

// How many of the names that a kernel and an ntdll both number have one number.
struct Nearest {
  std::size_t file;
  u64 equal;
  u64 shared;
};

class Pairing {
 public:
  Pairing(std::vector<BuildFile> files, std::optional<pe::Layout> layout)
      : layout_{layout},
        files_{std::move(files)},
        used_(files_.size()),
        services_(files_.size()),
        nearest_kernels_(files_.size()) {}

  PairedFiles pair() {
    std::vector<std::size_t> kernels;  // of the builds
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (files_[i].role == ImageRole::kernel && add_kernel(i)) kernels.push_back(i);
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (!has_ntdll(paired_.builds[i])) borrow_ntdll(kernels[i], paired_.builds[i]);
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (!used_[i]) leave(files_[i], why_unused(i));
    return std::move(paired_);
  }

 private:
  void leave(const BuildFile& file, std::string reason) {
    paired_.findings.warning("image-unpaired", std::nullopt, "{}: {}", file.path, reason);
    paired_.unpaired.push_back({file, std::move(reason)});
  }

  // Whether the kernel makes a build of its own.
  bool add_kernel(std::size_t index) {
    const auto& kernel = files_[index];
    used_[index] = true;
    for (const auto& build : paired_.builds)
      if (same_image(build.front(), kernel)) {
        leave_copy(kernel, build.front());
        take_copies(build, kernel);
        return false;
      }
    BuildFiles build{kernel};
    for (const auto role : {ImageRole::ntdll, ImageRole::win32u, ImageRole::win32k,
                            ImageRole::win32kbase, ImageRole::win32kfull})
      add_partner(index, build, role);
    paired_.builds.push_back(std::move(build));
    return true;
  }

  void leave_copy(const BuildFile& copy, const BuildFile& first) {
    paired_.unpaired.push_back({copy, note_copy(copy, first, paired_.findings)});
  }

  // What lies beside a copy of a kernel is a copy too.
  void take_copies(const BuildFiles& build, const BuildFile& kernel) {
    for (std::size_t i = 0; i < files_.size(); ++i)
      for (const auto& file : build)
        if (!used_[i] && same_image(file, files_[i]) && folder_of(files_[i]) == folder_of(kernel)) {
          used_[i] = true;
          leave_copy(files_[i], file);
        }
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

  void add_partner(std::size_t kernel, BuildFiles& build, ImageRole role) {
    auto found = candidates(files_[kernel], role);
    if (found.empty()) return;
    if (found.size() > 1) found = narrow(kernel, role, std::move(found));
    for (const auto index : found) used_[index] = true;
    const auto& first = files_[found.front()];
    const bool one = std::all_of(found.begin(), found.end(), [&](std::size_t index) {
      return same_image(files_[index], first);
    });
    if (one) {
      build.push_back(first);
      for (std::size_t i = 1; i < found.size(); ++i) leave_copy(files_[found[i]], first);
      return;
    }
    for (const auto index : found)
      leave(files_[index],
            fmt::format("several {} files fit {}, and nothing tells which is its own",
                        to_string(role), build.front().path));
  }

  // Those of several that number their services as the kernel does; all where none can be told.
  std::vector<std::size_t> narrow(std::size_t kernel, ImageRole role,
                                  std::vector<std::size_t> found) {
    if (role != ImageRole::ntdll) return found;
    std::vector<std::size_t> agreeing;
    for (const auto index : found)
      if (compare(index, kernel).trusted()) agreeing.push_back(index);
    return agreeing.empty() ? found : agreeing;
  }

  static bool has_ntdll(const BuildFiles& build) {
    return build.size() > 1 && build[1].role == ImageRole::ntdll;
  }

  // An ntdll of another revision serves where every number that both know is the same. Of several
  // the first is taken, provided that they number alike.
  void borrow_ntdll(std::size_t kernel, BuildFiles& build) {
    std::vector<std::size_t> agreeing;
    std::optional<Nearest> nearest;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].role != ImageRole::ntdll ||
          files_[i].identity.machine != files_[kernel].identity.machine)
        continue;
      const auto agreement = compare(i, kernel);
      if (agreement.complete()) agreeing.push_back(i);
      keep_nearer(nearest, {i, agreement.equal, agreement.shared});
      keep_nearer(nearest_kernels_[i], {kernel, agreement.equal, agreement.shared});
    }
    const bool alike = std::all_of(agreeing.begin(), agreeing.end(), [&](std::size_t index) {
      return compare(index, agreeing.front()).complete();
    });
    if (!agreeing.empty() && alike) {
      const auto& ntdll = files_[agreeing.front()];
      used_[agreeing.front()] = true;
      paired_.findings.info("ntdll-other-revision", std::nullopt,
                            "{} names services of {}, of another revision", ntdll.path,
                            build.front().path);
      build.insert(build.begin() + 1, ntdll);
      return;
    }
    std::string reason = "no ntdll of its machine is beside it or of its version";
    if (!agreeing.empty())
      reason +=
          fmt::format(", and {} others that agree with it do not with each other", agreeing.size());
    else if (nearest)
      reason +=
          fmt::format("; the nearest of another, {}, has its number for {} of {} shared names",
                      files_[nearest->file].path, nearest->equal, nearest->shared);
    leave(build.front(), std::move(reason));
  }

  static void keep_nearer(std::optional<Nearest>& nearest, const Nearest& other) {
    if (!nearest || other.equal > nearest->equal) nearest = other;
  }

  std::string why_unused(std::size_t index) const {
    std::string reason = "no kernel of its machine is beside it or of its version";
    if (const auto& nearest = nearest_kernels_[index])
      reason += fmt::format(
          "; {}, which has no ntdll of its own, has its number for {} of {} shared "
          "names",
          files_[nearest->file].path, nearest->equal, nearest->shared);
    return reason;
  }

  syscall_map::Agreement compare(std::size_t user, std::size_t kernel) {
    return syscall_map::compare_sides(services_of(user), services_of(kernel));
  }

  const std::vector<syscall_map::Service>& services_of(std::size_t index) {
    auto& services = services_[index];
    if (!services) {
      services.emplace();
      if (const auto open = open_image(files_[index].path, layout_))
        services = syscall_map::map_services(open->image).services;
    }
    return *services;
  }

  std::optional<pe::Layout> layout_;
  std::vector<BuildFile> files_;
  std::vector<bool> used_;
  std::vector<std::optional<std::vector<syscall_map::Service>>> services_;  // of those compared
  std::vector<std::optional<Nearest>> nearest_kernels_;                     // that lack an ntdll
  PairedFiles paired_;
};

}  // namespace

bool same_image(const BuildFile& a, const BuildFile& b) {
  return a.role == b.role && pe::same_headers(a.identity, b.identity);
}

std::string note_copy(const BuildFile& copy, const BuildFile& first, core::Findings& findings) {
  const bool same = same_content(copy.path, first.path);
  auto reason = fmt::format(fmt::runtime(same ? "it is the same image as {}"
                                              : "it has the headers of {} and other bytes"),
                            first.path);
  if (same)
    findings.info("image-twice", std::nullopt, "{}: {}", copy.path, reason);
  else
    findings.warning("image-conflict", std::nullopt, "{}: {}", copy.path, reason);
  return reason;
}

std::optional<BuildFile> read_build_file(const std::string& path,
                                         std::optional<pe::Layout> layout) {
  const auto open = open_image(path, layout);
  if (!open) return std::nullopt;
  core::Findings findings;
  auto identity = pe::read_identity(open->image, findings);
  const auto role = syscall_map::find_image_role(identity);
  if (!role) return std::nullopt;
  return BuildFile{path, *role, std::move(identity)};
}

std::vector<BuildFile> find_build_files(const std::string& folder,
                                        std::optional<pe::Layout> layout) {
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
    if (auto file = read_build_file(path, layout)) files.push_back(std::move(*file));
  return files;
}

PairedFiles pair_build_files(std::vector<BuildFile> files, std::optional<pe::Layout> layout) {
  return Pairing{std::move(files), layout}.pair();
}

}  // namespace coldtrace::cli
