#include "coldtrace/ntfs/summary/summary_row.hpp"

#include <algorithm>

#include "coldtrace/core/checked.hpp"

namespace coldtrace::ntfs {

void SummaryRow::add_data(std::optional<u64> stream_size, bool resident) {
  size = core::saturating_add(size, stream_size.value_or(0));
  if (resident) on_disk = core::saturating_add(on_disk, stream_size.value_or(0));
}

void SummaryRow::add_data_extent(const Extent& extent, u32 cluster_size) {
  extents.push_back(extent);
  ++data_extents;
  if (extent.lcn)
    on_disk = core::saturating_add(
        on_disk,
        core::saturating_multiply(extent.clusters, cluster_size == 0 ? 1 : u64{cluster_size}));
}

u64 SummaryRow::pieces() const {
  return static_cast<u64>(
      std::ranges::count_if(std::span{extents}.first(data_extents),
                            [](const Extent& extent) { return extent.lcn.has_value(); }));
}

void SummaryRow::clear() {
  state = State::live;
  path.clear();
  directory_path.clear();
  directory = false;
  first_of_file = false;
  times.reset();
  size = on_disk = 0;
  extents.clear();
  data_extents = 0;
  notes.clear();
}

void to_summary_row(const FileRow& row, u32 cluster_size, SummaryRow& summary) {
  summary.clear();
  summary.state = row.source->state;
  row.append_path(summary.path);
  summary.directory_path = row.parent_path;
  summary.directory = row.facts.directory;
  summary.first_of_file = row.source->first_of_record && row.source->has_record;
  if (row.facts.information) summary.times = row.facts.information->times;
  for (const auto& stream : row.streams) {
    summary.add_data(stream.size, stream.resident);
    for (const auto& extent : row.extents_of(stream)) summary.add_data_extent(extent, cluster_size);
  }
  for (const auto& stream : row.other_streams)
    for (const auto& extent : row.extents_of(stream)) summary.extents.push_back(extent);
  for (const auto& one : row.findings)
    summary.notes.push_back({std::string{one.code.view()}, one.warning, one.text});
}

}  // namespace coldtrace::ntfs
