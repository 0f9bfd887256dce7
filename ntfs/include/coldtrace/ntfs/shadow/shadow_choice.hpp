#pragma once

#include <functional>
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

// The number of a shadow copy from its text; numbers start with 1.
[[nodiscard]] std::optional<u32> to_shadow_number(std::string_view text);

// Which views of a volume are read: some of its shadow copies, or the present volume.
struct ShadowChoice {
  std::vector<u32> numbers = {};  // of copies
  bool all = false;               // all copies
  bool live = false;              // the present volume

  // Adds what a text names: the number of a copy, "all" or "live". False if it names none of these.
  [[nodiscard]] bool add(std::string_view text);
};

// The chosen views of a volume with these copies: the volume with the moment of each copy, oldest
// first, followed by the present volume.
[[nodiscard]] std::vector<Partition> choose_views(const ShadowChoice& choice,
                                                  const Partition& volume,
                                                  std::span<const ShadowCopy> copies);

// The shadow copies of volumes, by the start of the partition.
using ShadowsOfVolumes = std::map<u64, std::unique_ptr<ShadowCopies>>;

// The chosen views of all volumes.
struct ChosenViews {
  std::vector<Partition> views;  // grouped by volume
  std::vector<u32> absent;       // numbers of copies that no volume has
  std::size_t most = 0;          // maximum number of copies of one volume
  ShadowsOfVolumes shadows;      // of volumes that have any
};

// Where the volume of a partition is, which may not start with it.
using FindPlace = std::function<ShadowPlace(const Partition&)>;

// The same for all these volumes. `image` must outlive the result.
[[nodiscard]] ChosenViews choose_views(const ShadowChoice& choice,
                                       core::Borrowed<core::ImageSource> image,
                                       std::span<const Partition> volumes,
                                       const FindPlace& place_of, core::Findings& findings);

}  // namespace coldtrace::ntfs
