#include "coldtrace/syscall-map/hook-table/hook_table_verification.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::syscall_map {
namespace {

HookTableDifference missing(const HookTableImage& image) {
  return {fmt::format("images[{}]", to_string(image.role)), to_string(image.identity),
          std::nullopt};
}

class Verifier {
 public:
  Verifier(const BuildFiles& files, const ImageContents& contents, const HookTableMaker& make)
      : files_{files}, contents_{contents}, make_{make}, used_(files.size()) {}

  void verify(const HookTable& build) {
    const auto* const found = find_kernel(build);
    const bool is_given = found != nullptr && std::ranges::any_of(files_, [&](const auto& file) {
                            return same_image(file, *found);
                          });
    if (!is_given) {
      ++result_.not_given;
      return;
    }
    const auto& kernel = *found;
    auto& verified = result_.builds.emplace_back(VerifiedBuild{kernel, {}});
    const auto own = files_of(build, verified.differences);
    if (!verified.differences.empty()) return;
    const auto again = make_(build, own);
    if (again)
      verified.differences = compare_hook_tables(build, *again);
    else
      verified.differences.push_back(missing(kernel));
  }

  HookTableVerification finish() {
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (!used_[i]) result_.unmatched_files.push_back(files_[i].path);
    return std::move(result_);
  }

 private:
  // The files that a build was made from, and a difference for each that is not given.
  BuildFiles files_of(const HookTable& build, std::vector<HookTableDifference>& differences) {
    BuildFiles own;
    for (const auto& image : build.images) {
      const auto found =
          std::ranges::find_if(files_, [&](const auto& file) { return same_image(file, image); });
      if (found == files_.end()) {
        differences.push_back(missing(image));
        continue;
      }
      for (std::size_t i = 0; i < files_.size(); ++i) {
        if (used_[i] || !same_image(files_[i], *found)) continue;
        used_[i] = true;
        if (&files_[i] != &*found) (void)note_copy(files_[i], *found, contents_, result_.findings);
      }
      own.push_back(*found);
    }
    return own;
  }

  const BuildFiles& files_;
  const ImageContents& contents_;
  const HookTableMaker& make_;
  std::vector<bool> used_;
  HookTableVerification result_;
};

}  // namespace

bool HookTableVerification::is_same() const {
  return unmatched_files.empty() && !builds.empty() &&
         std::ranges::all_of(builds,
                             [](const VerifiedBuild& build) { return build.differences.empty(); });
}

HookTableVerification verify_hook_table(std::span<const HookTable> builds, const BuildFiles& files,
                                        const ImageContents& contents, const HookTableMaker& make) {
  Verifier verifier{files, contents, make};
  for (const auto& build : builds) verifier.verify(build);
  return verifier.finish();
}

}  // namespace coldtrace::syscall_map
