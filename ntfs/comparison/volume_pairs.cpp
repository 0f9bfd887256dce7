#include "coldtrace/ntfs/comparison/volume_pairs.hpp"

#include <algorithm>
#include <optional>

namespace coldtrace::ntfs {
namespace {

using Views = std::span<const ComparedView>;

bool is_one_volume(Views views) {
  return std::ranges::all_of(
      views, [&](const ComparedView& view) { return view.start == views.front().start; });
}

// The views of one side, each of which is the counterpart of one.
class Counterparts {
 public:
  // `anywhere`: wherever the volumes start.
  Counterparts(Views views, bool anywhere)
      : views_{views}, anywhere_{anywhere}, taken_(views.size(), false) {}

  // The same view of the volume, or the only one that either side has of it.
  std::optional<std::size_t> take(const ComparedView& wanted, Views others) {
    const bool only = views_at(views_, wanted.start) == 1 && views_at(others, wanted.start) == 1;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      const auto& found = views_[i];
      if (taken_[i] || (!anywhere_ && found.start != wanted.start) ||
          (!only && found.shadow != wanted.shadow))
        continue;
      taken_[i] = true;
      return i;
    }
    return std::nullopt;
  }

  std::vector<std::size_t> left() const {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < views_.size(); ++i)
      if (!taken_[i]) left.push_back(i);
    return left;
  }

 private:
  static std::ptrdiff_t views_at(Views views, u64 start) {
    return std::ranges::count(views, start, &ComparedView::start);
  }

  Views views_;
  bool anywhere_;
  std::vector<bool> taken_;
};

}  // namespace

VolumePairs pair_volumes(Views before, Views after) {
  VolumePairs found;
  if (before.size() == 1 && after.size() == 1) {
    found.pairs.push_back({0, 0});
    return found;
  }
  Counterparts counterparts{after, is_one_volume(before) && is_one_volume(after)};
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (const auto other = counterparts.take(before[i], before))
      found.pairs.push_back({i, *other});
    else
      found.before_alone.push_back(i);
  }
  found.after_alone = counterparts.left();
  return found;
}

void note_pair(const ComparedView& before, const ComparedView& after, core::Findings& findings) {
  if (!before.serial_number.empty() && !after.serial_number.empty() &&
      before.serial_number != after.serial_number)
    findings.warning("volume-other", after.start,
                     "the volumes have the serial numbers {} and {}: they are different volumes, "
                     "and equal record numbers mean nothing",
                     before.serial_number, after.serial_number);
  if (before.names_key != after.names_key)
    findings.warning("names-key", std::nullopt, "{}: all files look renamed",
                     before.names_key.empty() || after.names_key.empty()
                         ? "the names of one side are hashed, those of the other are not"
                         : "the names of the two sides are hashed with different keys, or only one "
                           "of them with extensions");
}

}  // namespace coldtrace::ntfs
