#include "coldtrace/syscall-map/hook-table/build_pairing.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "coldtrace/syscall-map/stubs/agreement.hpp"

namespace coldtrace::syscall_map {
namespace {

std::string folder_of(const HookTableImage& file) {
  return std::filesystem::path{file.path}.parent_path().string();
}

// How many of the names that a kernel and an ntdll both number have one number.
struct Nearest {
  std::size_t file;
  u64 equal;
  u64 shared;
};

class Pairing {
 public:
  Pairing(std::vector<HookTableImage> files, const ImageContents& contents)
      : contents_{contents},
        files_{std::move(files)},
        used_(files_.size()),
        borrowed_(files_.size()),
        services_(files_.size()),
        nearest_kernels_(files_.size()) {}

  PairedBuilds pair() {
    std::vector<std::size_t> kernels;  // of the builds
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (files_[i].role == ImageRole::kernel && add_kernel(i)) kernels.push_back(i);
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (!has_ntdll(paired_.builds[i])) borrow_ntdll(kernels[i], paired_.builds[i]);
    for (auto& [index, reason] : undecided_)
      if (!borrowed_[index]) leave(files_[index], std::move(reason));
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (!used_[i]) leave(files_[i], why_unused(i));
    return std::move(paired_);
  }

 private:
  void leave(const HookTableImage& file, std::string reason) {
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

  void leave_copy(const HookTableImage& copy, const HookTableImage& first) {
    paired_.unpaired.push_back({copy, note_copy(copy, first, contents_, paired_.findings)});
  }

  // What lies beside a copy of a kernel is a copy too.
  void take_copies(const BuildFiles& build, const HookTableImage& kernel) {
    for (std::size_t i = 0; i < files_.size(); ++i)
      for (const auto& file : build)
        if (!used_[i] && same_image(file, files_[i]) && folder_of(files_[i]) == folder_of(kernel)) {
          used_[i] = true;
          leave_copy(files_[i], file);
        }
  }

  // The files of a role that `fits` takes, of the machine of the kernel.
  template <class Fits>
  std::vector<std::size_t> select(const HookTableImage& kernel, ImageRole role, Fits&& fits) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (files_[i].role == role && files_[i].identity.machine == kernel.identity.machine &&
          fits(files_[i]))
        found.push_back(i);
    return found;
  }

  // What lies beside the kernel, else beside a copy of it, else what is of its version.
  std::vector<std::size_t> candidates(const HookTableImage& kernel, ImageRole role) const {
    std::vector<std::size_t> found;
    for (const auto& copy : files_) {
      if (!same_image(copy, kernel)) continue;
      found = select(kernel, role,
                     [&](const auto& file) { return folder_of(file) == folder_of(copy); });
      if (!found.empty()) return found;
    }
    return select(kernel, role, [&](const auto& file) { return same_version(file, kernel); });
  }

  static bool same_version(const HookTableImage& a, const HookTableImage& b) {
    return a.identity.file_version && a.identity.file_version == b.identity.file_version;
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
      undecided_.emplace_back(
          index, fmt::format("several {} files fit {}, and nothing shows which one belongs to it",
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
      used_[agreeing.front()] = borrowed_[agreeing.front()] = true;
      const bool of_its_version =
          ntdll.identity.file_version == files_[kernel].identity.file_version;
      paired_.findings.info("ntdll-other-revision", std::nullopt, "{} names services of {}, {}",
                            ntdll.path, build.front().path,
                            of_its_version ? "one of several of its version with the same numbers"
                                           : "of another revision");
      build.insert(build.begin() + 1, ntdll);
      return;
    }
    std::string reason = candidates(files_[kernel], ImageRole::ntdll).empty()
                             ? "no ntdll for its machine is next to it or of its version"
                             : "nothing shows which of several ntdlls belongs to it";
    if (!agreeing.empty())
      reason += fmt::format(", and {} others that agree with it do not agree with each other",
                            agreeing.size());
    else if (nearest)
      reason +=
          fmt::format("; the nearest other one, {}, has the same number for {} of {} shared names",
                      files_[nearest->file].path, nearest->equal, nearest->shared);
    leave(build.front(), std::move(reason));
  }

  static void keep_nearer(std::optional<Nearest>& nearest, const Nearest& other) {
    if (!nearest || other.equal > nearest->equal) nearest = other;
  }

  // The kernel that a file would have been for; null when there is none.
  const HookTableImage* find_kernel(const HookTableImage& file) const {
    const HookTableImage* found = nullptr;
    for (const auto& kernel : files_) {
      if (kernel.role != ImageRole::kernel || kernel.identity.machine != file.identity.machine)
        continue;
      if (folder_of(kernel) == folder_of(file)) return &kernel;
      if (!found && same_version(kernel, file)) found = &kernel;
    }
    return found;
  }

  // What the build of a kernel has in place of the file.
  std::string describe_rival(const HookTableImage& file, const HookTableImage& kernel) const {
    for (const auto& build : paired_.builds)
      for (const auto& rival : build)
        if (same_image(build.front(), kernel) && rival.role == file.role)
          return fmt::format("its {} is {}", to_string(file.role), rival.path);
    return "others fit better";
  }

  std::string why_unused(std::size_t index) const {
    const auto& file = files_[index];
    const auto* const kernel = find_kernel(file);
    auto reason = kernel ? fmt::format("{} is {}, and {}", kernel->path,
                                       folder_of(*kernel) == folder_of(file) ? "next to it"
                                                                             : "of its version",
                                       describe_rival(file, *kernel))
                         : std::string{"no kernel for its machine is next to it or of its version"};
    if (const auto& nearest = nearest_kernels_[index])
      reason += fmt::format(
          "; {}, which has no ntdll of its own, has the same number for {} of {} shared names",
          files_[nearest->file].path, nearest->equal, nearest->shared);
    return reason;
  }

  Agreement compare(std::size_t user, std::size_t kernel) {
    return compare_sides(services_of(user), services_of(kernel));
  }

  const std::vector<Service>& services_of(std::size_t index) {
    auto& services = services_[index];
    if (!services) services = contents_.services(files_[index]);
    return *services;
  }

  const ImageContents& contents_;
  std::vector<HookTableImage> files_;
  std::vector<bool> used_;
  std::vector<bool> borrowed_;
  // Files that fit a kernel as well as others do, and the reason why none of them is its own.
  std::vector<std::pair<std::size_t, std::string>> undecided_;
  std::vector<std::optional<std::vector<Service>>> services_;  // of those compared
  std::vector<std::optional<Nearest>> nearest_kernels_;        // that lack an ntdll
  PairedBuilds paired_;
};

}  // namespace

bool same_image(const HookTableImage& a, const HookTableImage& b) {
  return a.role == b.role && pe::same_headers(a.identity, b.identity);
}

std::string note_copy(const HookTableImage& copy, const HookTableImage& first,
                      const ImageContents& contents, core::Findings& findings) {
  const bool same = contents.same_bytes(copy, first);
  auto reason = same ? fmt::format("it is the same image as {}", first.path)
                     : fmt::format("it has the headers of {} but different bytes", first.path);
  if (same)
    findings.info("image-twice", std::nullopt, "{}: {}", copy.path, reason);
  else
    findings.warning("image-conflict", std::nullopt, "{}: {}", copy.path, reason);
  return reason;
}

PairedBuilds pair_builds(std::vector<HookTableImage> files, const ImageContents& contents) {
  return Pairing{std::move(files), contents}.pair();
}

}  // namespace coldtrace::syscall_map
