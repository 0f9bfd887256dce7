#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/shadow/shadow_copies.hpp"

namespace coldtrace::ntfs {

// The number of a shadow copy by its text; they begin with 1.
[[nodiscard]] std::optional<u32> to_shadow_number(std::string_view text);

// Which views of a volume are read: some of its shadow copies, or the volume as it is now.
struct ShadowChoice {
  std::vector<u32> numbers = {};  // of copies
  bool all = false;               // copies
  bool live = false;              // the volume as it is now

  // Adds what a text names: the number of a copy, "all" or "live". False where it names none.
  [[nodiscard]] bool add(std::string_view text);
};

// What of a volume with these copies is chosen: the volume with the moment of each copy, from the
// oldest on, and behind them as it is now.
[[nodiscard]] std::vector<Partition> choose_views(const ShadowChoice& choice,
                                                  const Partition& volume,
                                                  std::span<const ShadowCopy> copies);

// The shadow copies of volumes, by where these start.
using ShadowsOfVolumes = std::map<u64, std::unique_ptr<ShadowCopies>>;

// What volumes have of what is chosen.
struct ChosenViews {
  std::vector<Partition> views;  // of one volume after the other
  std::vector<u32> absent;       // numbers of copies that no volume has
  std::size_t most = 0;          // copies of one volume
  ShadowsOfVolumes shadows;      // of those that have any
};

// The same of all these volumes. `image` outlives the result.
[[nodiscard]] ChosenViews choose_views(const ShadowChoice& choice,
                                       core::Borrowed<core::ImageSource> image,
                                       std::span<const Partition> volumes,
                                       core::Findings& findings);

}  // namespace coldtrace::ntfs
