#include <algorithm>
#include <tuple>

#include "coldtrace/ntfs/summary/volume_summary.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 day = u64{24} * 60 * 60 * 10'000'000;

u64 day_of(core::FileTime time) {
  return time.ticks != 0 && is_plausible(time) ? time.ticks / day : 0;
}

}  // namespace

SplitPath split_path(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == path.npos) return {{}, path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

bool weighs_more(const VolumeNames::Name& a, const VolumeNames::Name& b) {
  return std::tie(b.on_disk, a.path, a.state) < std::tie(a.on_disk, b.path, b.state);
}

void VolumeNames::add(const SummaryRow& row) {
  if (row.state != State::live && row.state != State::deleted) return;
  ++seen_;
  Name name{.path = row.path,
            .state = row.state,
            .directory = row.directory,
            .size = row.size,
            .on_disk = row.on_disk,
            .days = {},
            .extents = row.pieces(),
            .first_extents = {}};
  if (row.times)
    name.days = {day_of(row.times->created), day_of(row.times->modified),
                 day_of(row.times->changed), day_of(row.times->accessed)};
  for (const auto& extent : std::span{row.extents}.first(row.data_extents)) {
    if (name.first_extents.size() >= most_extents) break;
    if (extent.lcn) name.first_extents.push_back(extent);
  }
  names_.push_back(std::move(name));
  if (names_.size() >= 2 * most_) keep(most_);
}

void VolumeNames::keep(std::size_t count) {
  if (names_.size() <= count) return;
  const auto end = names_.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::nth_element(names_, end, weighs_more);
  names_.erase(end, names_.end());
}

void VolumeNames::finish() {
  keep(most_);
  std::ranges::sort(names_, {}, [](const Name& name) {
    const auto [directory, own] = split_path(name.path);
    return std::tuple{directory, own, name.state};
  });
}

}  // namespace coldtrace::ntfs
