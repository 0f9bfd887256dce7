#include "coldtrace/ntfs/summary/summary_row.hpp"

#include <algorithm>
#include <utility>

#include "coldtrace/core/checked.hpp"

namespace coldtrace::ntfs {
namespace {

// Where the size of clusters is not known: as long as the longest records, so that what lies in one
// does not weigh more than a cluster.
constexpr u64 weighed_cluster = 4096;

}  // namespace

void SummaryRow::add_stream(std::string name) {
  streams.push_back({std::move(name), 0});
}

void SummaryRow::add_data(std::string name, std::optional<u64> stream_size, bool resident) {
  const auto unnamed = [](const Stream& stream) { return stream.name.empty(); };
  if (name.empty() && std::ranges::none_of(streams, unnamed)) size = stream_size;
  add_stream(std::move(name));
  if (resident) on_disk = core::saturating_add(on_disk, stream_size.value_or(0));
}

void SummaryRow::add_data_extent(const Extent& extent, const ClusterMap& clusters) {
  add_extent(extent);
  ++data_extents;
  if (!extent.lcn) return;
  const bool sized = clusters.cluster_size != 0;
  if (sized && !clusters.contains(*extent.lcn, extent.clusters)) return;
  on_disk = core::saturating_add(
      on_disk,
      core::saturating_multiply(extent.clusters, sized ? clusters.cluster_size : weighed_cluster));
}

void SummaryRow::add_extent(const Extent& extent) {
  extents.push_back(extent);
  ++streams.back().extents;
}

u64 SummaryRow::pieces() const {
  return static_cast<u64>(
      std::ranges::count_if(std::span{extents}.first(data_extents),
                            [](const Extent& extent) { return extent.lcn.has_value(); }));
}

void SummaryRow::clear() {
  state = State::live;
  record.reset();
  path.clear();
  directory_path.clear();
  directory = false;
  first_of_file = false;
  times.reset();
  size.reset();
  on_disk = 0;
  extents.clear();
  data_extents = 0;
  streams.clear();
  notes.clear();
}

void to_summary_row(const FileRow& row, const ClusterMap& clusters, SummaryRow& summary) {
  summary.clear();
  summary.state = row.source->state;
  if (row.file_known()) summary.record = row.source->file.record;
  summary.path = row.exact_path();
  summary.directory_path = row.parent_path;
  summary.directory = row.facts.directory;
  summary.first_of_file = row.source->first_of_record && row.source->has_record;
  if (row.facts.information) summary.times = row.facts.information->times;
  for (const auto& stream : row.streams) {
    summary.add_data(to_exact(stream.name), stream.size, stream.resident);
    for (const auto& extent : row.extents_of(stream)) summary.add_data_extent(extent, clusters);
  }
  for (const auto& stream : row.other_streams) {
    summary.add_stream(to_exact(stream.name));
    for (const auto& extent : row.extents_of(stream)) summary.add_extent(extent);
  }
  for (const auto& one : row.findings)
    summary.notes.push_back({std::string{one.code.view()}, one.warning, one.text});
}

}  // namespace coldtrace::ntfs
