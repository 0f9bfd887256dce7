#include "coldtrace/trace_analysis/requests/disk_map.hpp"

#include <algorithm>
#include <array>
#include <queue>

namespace coldtrace::trace_analysis {
namespace {

constexpr std::array<std::string_view, 7> state_names{
    "live", "detached", "unreachable", "unnamed", "deleted", "stale", "slack"};

}  // namespace

std::string_view to_string(NameState state) {
  return state_names[static_cast<std::size_t>(state)];
}

std::optional<NameState> find_name_state(std::string_view text) {
  const auto* const place = std::find(state_names.begin(), state_names.end(), text);
  if (place == state_names.end()) return std::nullopt;
  return static_cast<NameState>(place - state_names.begin());
}

bool is_in_use(NameState state) {
  return state <= NameState::unnamed;
}

bool DiskMap::take(std::size_t bytes) {
  if (bytes > left_) {
    ++left_out_;
    return false;
  }
  left_ -= bytes;
  return true;
}

std::optional<u32> DiskMap::add_file(File file) {
  if (!take(sizeof(File) + file.path.size())) return std::nullopt;
  files_.push_back(std::move(file));
  return static_cast<u32>(files_.size() - 1);
}

void DiskMap::add_extent(u32 file, u64 offset, u64 bytes) {
  u64 end = 0;
  if (bytes == 0 || __builtin_add_overflow(offset, bytes, &end)) {
    ++impossible_;
    return;
  }
  // finish() cuts each into two pieces at most.
  if (take(3 * sizeof(Extent))) extents_.push_back({offset, end, file});
}

bool DiskMap::is_before(u32 a, u32 b) const {
  const bool in_use = is_in_use(files_[a].state);
  return in_use != is_in_use(files_[b].state) ? in_use : a < b;
}

void DiskMap::finish() {
  std::sort(extents_.begin(), extents_.end(),
            [](const Extent& a, const Extent& b) { return a.from < b.from; });
  const auto is_behind = [this](const Extent& a, const Extent& b) {
    return is_before(b.file, a.file);
  };
  std::priority_queue<Extent, std::vector<Extent>, decltype(is_behind)> claims{is_behind};
  std::vector<Extent> pieces;
  u64 at = 0;
  for (auto next = extents_.begin(); next != extents_.end() || !claims.empty();) {
    while (!claims.empty() && claims.top().to <= at) claims.pop();
    if (claims.empty()) {
      if (next == extents_.end()) break;
      at = next->from;
    }
    while (next != extents_.end() && next->from <= at) claims.push(*next++);
    if (claims.empty()) continue;
    const auto& best = claims.top();
    if (best.to <= at) continue;
    const auto until = next == extents_.end() ? best.to : std::min(best.to, next->from);
    if (!pieces.empty() && pieces.back().to == at && pieces.back().file == best.file)
      pieces.back().to = until;
    else
      pieces.push_back({at, until, best.file});
    at = until;
  }
  extents_ = std::move(pieces);
}

const DiskMap::File* DiskMap::find(u64 offset) const {
  const auto after = std::partition_point(
      extents_.begin(), extents_.end(), [&](const Extent& extent) { return extent.to <= offset; });
  if (after == extents_.end() || after->from > offset) return nullptr;
  return &files_[after->file];
}

}  // namespace coldtrace::trace_analysis
