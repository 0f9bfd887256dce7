#include "coldtrace/ntfs/summary/volume_summary.hpp"

#include <algorithm>

namespace coldtrace::ntfs {
namespace {

constexpr u64 day = u64{24} * 60 * 60 * 10'000'000;
constexpr std::size_t most_days = 100'000;

auto weight_of(const VolumeSummary::File& file, bool by_extents) {
  return by_extents ? std::pair{u64{file.extents}, file.on_disk}
                    : std::pair{file.on_disk, u64{file.extents}};
}

u64 divide_up(u64 number, u64 by) {
  return number / by + (number % by != 0 ? 1 : 0);
}

// Sums of damaged volumes stay the largest number.
void add_to(u64& sum, u64 bytes) {
  sum += std::min(bytes, ~u64{0} - sum);
}

}  // namespace

VolumeSummary::VolumeSummary(u64 clusters, std::size_t top)
    : clusters_{clusters},
      clusters_of_place_{std::max<u64>(1, divide_up(clusters, places))},
      top_{top},
      map_(divide_up(clusters, clusters_of_place_)) {}

void VolumeSummary::add(const SummaryRow& row) {
  auto& sums = states_[static_cast<std::size_t>(row.state)];
  ++sums.names;
  add_findings(row);
  if (!row.first_of_file) return;
  File file{.path = row.path,
            .state = row.state,
            .size = row.size,
            .on_disk = row.on_disk,
            .extents = row.pieces()};
  if (row.times && row.times->modified.ticks != 0) file.modified = row.times->modified;
  add_to(sums.bytes, file.on_disk);
  add_times(row);
  add_places(row);
  if (row.state == State::live) {
    const auto number = !row.directory    ? directory_of(row.directory_path)
                        : row.path == "/" ? 0
                                          : directory_of(row.path);
    auto& directory = directories_[number];
    add_to(directory.bytes, file.on_disk);
    directory.files += !row.directory;
    keep(largest_, file, false);
    if (file.extents > 1) keep(fragmented_, file, true);
  } else if (row.state == State::deleted) {
    keep(deleted_, file, false);
  }
}

// Rows of one directory follow each other. Beyond the most directories what is below counts for the
// one above.
u32 VolumeSummary::directory_of(std::string_view path) {
  if (path == last_path_) return last_directory_;
  last_path_ = path;
  u32 number = 0;
  for (std::size_t at = path.starts_with('/') ? 1 : 0; at < path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const auto name = path.substr(at, end - at);
    at = end + 1;
    const auto known = numbers_.find(DirectoryKey{number, std::string{name}});
    if (known != numbers_.end()) {
      number = known->second;
      continue;
    }
    if (directories_.size() >= most_directories) break;
    const auto added = static_cast<u32>(directories_.size());
    directories_.push_back({number, std::string{name}});
    numbers_.emplace(DirectoryKey{number, std::string{name}}, added);
    number = added;
  }
  last_directory_ = number;
  return number;
}

void VolumeSummary::add_times(const SummaryRow& row) {
  if (!row.times) return;
  const auto& times = *row.times;
  const std::array all{times.created, times.modified, times.changed, times.accessed};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].ticks == 0 || !is_plausible(all[i])) continue;
    const auto number = all[i].ticks / day;
    if (days_.size() < most_days || days_.contains(number)) ++days_[number][i];
  }
}

void VolumeSummary::add_places(const SummaryRow& row) {
  const bool live = row.state != State::deleted;
  for (const auto& extent : row.extents) {
    if (!extent.lcn) continue;
    auto at = static_cast<u64>(*extent.lcn);
    auto left = extent.clusters;
    while (left > 0 && at < clusters_) {
      const auto here =
          std::min({left, clusters_of_place_ - at % clusters_of_place_, clusters_ - at});
      auto& place = map_[at / clusters_of_place_];
      add_to(live ? place.live : place.deleted, here);
      at += here;
      left -= here;
    }
  }
}

void VolumeSummary::add_findings(const SummaryRow& row) {
  for (const auto& one : row.notes) {
    if (findings_.size() >= most_kinds && !findings_.contains(one.code)) {
      ++kinds_left_out_;
      continue;
    }
    auto& sums = findings_[one.code];
    if (sums.count++ == 0) {
      sums.first_path = row.path;
      sums.first_text = one.text;
    }
    sums.warning |= one.warning;
  }
}

// A heap whose front is the least of those that are kept.
void VolumeSummary::keep(std::vector<File>& files, const File& file, bool by_extents) const {
  const auto order = [&](const File& a, const File& b) {
    const auto first = weight_of(a, by_extents), second = weight_of(b, by_extents);
    return first != second ? first > second : a.path < b.path;
  };
  if (files.size() >= top_) {
    if (top_ == 0 || !order(file, files.front())) return;
    std::ranges::pop_heap(files, order);
    files.pop_back();
  }
  files.push_back(file);
  std::ranges::push_heap(files, order);
}

void VolumeSummary::finish() {
  for (std::size_t i = directories_.size(); i-- > 1;) {
    auto& parent = directories_[directories_[i].parent];
    add_to(parent.bytes, directories_[i].bytes);
    parent.files += directories_[i].files;
  }
  const auto sort = [](std::vector<File>& files, bool by_extents) {
    std::ranges::sort(files, [&](const File& a, const File& b) {
      const auto first = weight_of(a, by_extents), second = weight_of(b, by_extents);
      return first != second ? first > second : a.path < b.path;
    });
  };
  sort(largest_, false);
  sort(fragmented_, true);
  sort(deleted_, false);
}

}  // namespace coldtrace::ntfs
