#include "coldtrace/ntfs/containers/image_parents.hpp"

#include <algorithm>
#include <iterator>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/ntfs/containers/virtual_disk.hpp"
#include "ntfs/containers/parent_files.hpp"

namespace coldtrace::ntfs {

ImageParents choose_parents(const std::string& image, std::span<const std::string> parents) {
  const auto own = std::ranges::find_if(
      parents, [&](const std::string& parent) { return is_same_file(parent, image); });
  const auto first = own == parents.end() ? parents.begin() : std::next(own);
  ImageParents chosen{image, {first, parents.end()}};
  if (chosen.parents.empty()) return chosen;
  const auto file = core::FileImage::open(image);
  if (!file) return chosen;
  const auto kind = core::recognize_file(**file);
  if (!kind || core::is_packed(*kind)) return chosen;
  // Which files its chain has is known inside of the process that opens it: it is opened once more.
  core::Findings ignored;  // told when it is opened to be read
  if (is_readable_virtual_disk(*kind) && !open_virtual_disk(image, *kind, chosen.parents, ignored))
    return chosen;
  const auto files = list_disk_files(image, chosen.parents);
  std::erase_if(chosen.parents, [&](const std::string& parent) {
    return std::ranges::find(files, parent) == files.end();
  });
  return chosen;
}

void note_unused_parents(std::span<const std::string> parents, const ImageParents& before,
                         const ImageParents& after, core::Findings& findings) {
  const auto rests_on = [](const ImageParents& side, const std::string& parent) {
    return is_same_file(parent, side.image) ||
           std::ranges::find(side.parents, parent) != side.parents.end();
  };
  for (const auto& parent : parents)
    if (!rests_on(before, parent) && !rests_on(after, parent))
      findings.warning("image-parent", std::nullopt,
                       "{}, a file of --parent, is not used: neither {} nor {} is based on it",
                       parent, before.image, after.image);
}

}  // namespace coldtrace::ntfs
