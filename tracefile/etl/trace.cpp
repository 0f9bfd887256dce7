#include "coldtrace/tracefile/etl/trace.hpp"

#include <algorithm>

#include "tracefile/etl/buffer_scanner.hpp"

namespace coldtrace::tracefile {
namespace {

std::size_t find_clock(const std::vector<ScannedFile>& files) {
  const auto found =
      std::ranges::find_if(files, [](const ScannedFile& file) { return file.scan.has_header; });
  return found == files.end() ? 0 : static_cast<std::size_t>(found - files.begin());
}

// `mark`: the flag of a buffer before which something was lost.
LostCount sum(const std::vector<ScannedFile>& files, u32 LogfileHeader::*count, u16 mark) {
  LostCount lost;
  bool all_known = true;
  for (const auto& [source, scan, events] : files) {
    all_known = all_known && scan.has_header;
    lost.at_least +=
        scan.has_header
            ? u64{scan.header.*count}
            : static_cast<u64>(std::ranges::count_if(scan.buffers, [&](const BufferEntry& entry) {
                return (entry.flags & mark) != 0;
              }));
  }
  if (all_known) lost.all = lost.at_least;
  return lost;
}

}  // namespace

std::string_view to_string(TimeQuality quality) {
  switch (quality) {
    case TimeQuality::exact:
      return "exact";
    case TimeQuality::approximate:
      return "approximate";
    default:
      return "unknown";
  }
}

Trace::Trace(std::unique_ptr<std::vector<ScannedFile>> files, std::unique_ptr<Catalog> catalog,
             unsigned pointer_size)
    : files_{std::move(files)},
      clock_file_{find_clock(*files_)},
      catalog_{std::move(catalog)},
      schemas_{std::make_unique<SchemaChain>(catalog_->schemas.in_order())},
      clock_{scan().has_header ? make_clock(scan().header, scan().first_timestamp) : Clock{}},
      pointer_size_{pointer_size} {}

core::Result<Trace> Trace::open(core::Borrowed<core::ImageSource> source,
                                const CatalogOptions& options, core::Findings& findings) {
  std::vector<ScannedFile> files;
  files.push_back(
      {&source.get(), COLDTRACE_TRY(scan_buffers(source, options.largest_unpacked, findings))});
  return merge(std::move(files), options, {&findings, 1});
}

Trace Trace::merge(std::vector<ScannedFile> files, const CatalogOptions& options,
                   std::span<core::Findings> findings) {
  auto kept = std::make_unique<std::vector<ScannedFile>>(std::move(files));
  auto catalog = std::make_unique<Catalog>(read_catalog(*kept, options, findings));
  return Trace{std::move(kept), std::move(catalog), options.pointer_size};
}

TimeQuality Trace::time_quality(const ScannedFile& file) const {
  if (!file.scan.has_header) return TimeQuality::unknown;
  return clock_.approximate() ? TimeQuality::approximate : TimeQuality::exact;
}

LostCount Trace::events_lost() const {
  return sum(*files_, &LogfileHeader::events_lost, BufferHeader::events_lost);
}

LostCount Trace::buffers_lost() const {
  return sum(*files_, &LogfileHeader::buffers_lost, BufferHeader::buffer_lost);
}

EventStream Trace::stream(StreamOptions options) const {
  options.pointer_size = pointer_size_;
  return {*files_, catalog_->names, options};
}

}  // namespace coldtrace::tracefile
