#include "cli/report/snapshot/traced_volumes.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "cli/report/page/charts.hpp"
#include "cli/report/page/html_table.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"

namespace coldtrace::cli {

using trace_analysis::DiskIo;
using trace_analysis::DiskOfImage;

namespace {

std::string stream_path(const std::string& path, const std::string& name) {
  return name.empty() ? path : fmt::format("{}:{}", path, name);
}

}  // namespace

void TracedVolumes::begin_volume(std::size_t section, const ntfs::ClusterMap& clusters,
                                 const ntfs::VolumeSummary& summary) {
  volumes_.push_back({section,
                      clusters,
                      {clusters.volume_offset, clusters.clusters * clusters.cluster_size,
                       summary.clusters_of_place() * clusters.cluster_size, summary.map().size()}});
}

void TracedVolumes::add(const ntfs::SummaryRow& row) {
  const auto& clusters = volumes_.back().clusters;
  const auto state = trace_analysis::find_name_state(to_string(row.state));
  if (!state || row.extents.empty()) return;
  const auto path =
      row.path.empty() && row.record ? fmt::format("/<record {}>", *row.record) : row.path;
  auto extents = std::span{row.extents};
  for (const auto& stream : row.streams) {
    std::optional<u32> file;
    for (const auto& extent : extents.first(stream.extents)) {
      if (!extent.lcn) continue;
      const auto at = clusters.offset_of(*extent.lcn);
      if (!at || !clusters.contains(*extent.lcn, extent.clusters)) continue;
      const auto on_disk = core::checked_add(*at, image_.offset());
      if (!on_disk) continue;
      if (!file) file = files_.add_file({stream_path(path, stream.name), *state});
      if (!file) return;
      files_.add_extent(*file, *on_disk, extent.clusters * clusters.cluster_size);
    }
    extents = extents.subspan(stream.extents);
  }
}

std::optional<DiskIo::Snapshot> TracedVolumes::on_disk() const {
  if (volumes_.empty()) return std::nullopt;
  return DiskIo::Snapshot{files_, image_.disk()};
}

void TracedVolumes::add_request(const DiskIo::Row& row) {
  if (volumes_.empty()) return;
  const auto at = image_.add(row.request);
  if (!at) return;
  for (auto& volume : volumes_) volume.access.add(*at, row);
}

void TracedVolumes::note_findings(const DiskIo& requests, core::Findings& findings) const {
  if (!volumes_.empty()) trace_analysis::note_disk_of_image(image_, requests, findings);
}

std::string TracedVolumes::why_another(const DiskIo& requests) const {
  switch (image_.find_doubt(requests)) {
    case DiskOfImage::Doubt::none:
      return {};
    case DiskOfImage::Doubt::behind_end:
      return fmt::format(
          "{} of its requests to disk {} {} beyond the end of this one, byte {}; the first begins "
          "at {}",
          grouped(image_.behind_end()), image_.disk(), image_.behind_end() == 1 ? "lies" : "lie",
          grouped(*image_.end()), grouped(image_.first_behind_end()));
    case DiskOfImage::Doubt::other_disks: {
      std::string others;
      for (const auto& [number, one] : requests.disks())
        if (number) others += fmt::format("{}{}", others.empty() ? "" : ", ", *number);
      return fmt::format("it has no request to disk {}, only to others: {}", image_.disk(),
                         others.empty() ? "without a number" : others);
    }
    case DiskOfImage::Doubt::unlike_snapshot:
      return fmt::format(
          "of the requests whose file the trace names, this disk has another file at the location "
          "of {}, and the same file at that of {}",
          grouped(requests.agreement().unlike), grouped(requests.agreement().alike));
  }
  return {};
}

void TracedVolumes::write(Page& page, const DiskIo& requests, u64 top) const {
  const auto why = why_another(requests);
  const bool any = !requests.disks().empty();
  for (const auto& volume : volumes_) {
    auto& section = page.sections[volume.section];
    section.content.element("h3", "What the trace did here");
    if (!any)
      section.content.element("p", "The trace has no requests to any disk.");
    else if (why.empty())
      write(section, volume, requests.files(), top);
    else
      section.content.element(
          "p",
          fmt::format("Not shown, since the trace does not seem to be of this disk: {}. "
                      "--snapshot-disk and --snapshot-offset say which disk of the trace it is "
                      "and where it begins.{}",
                      why,
                      requests.agreement().named == 0 ? ""
                                                      : " File names that the trace lacks and this "
                                                        "page takes from the disk may be wrong."));
  }
}

void TracedVolumes::write(Page::Section& section, const Volume& volume,
                          const trace_analysis::FileTable& files, u64 top) {
  auto& html = section.content;
  const auto& access = volume.access;
  if (access.all().requests() == 0) {
    html.element("p", "The trace has no request to this disk that lies on this volume.");
    return;
  }
  std::vector<i64> read, written;
  for (const auto& place : access.places()) {
    read.push_back(static_cast<i64>(std::min(place.read, ~u64{0} >> 1U)));
    written.push_back(static_cast<i64>(std::min(place.written, ~u64{0} >> 1U)));
  }
  const auto end = short_bytes(volume.clusters.clusters * volume.clusters.cluster_size);
  const auto strip = [&](std::string_view what, u64 requests, u64 bytes, std::vector<i64> values) {
    const auto most = std::ranges::max(values);
    write_strip(html, {fmt::format("{}: {} with {}, by location; most {}", what,
                                   counted(requests, "request", "requests"), short_bytes(bytes),
                                   short_bytes(static_cast<u64>(most))),
                       std::move(values), std::max<i64>(1, most), "0", end});
  };
  strip("Read", access.all().reads, access.all().read, std::move(read));
  strip("Written", access.all().writes, access.all().written, std::move(written));
  html.markup("<details class=\"as-table\"><summary>As a table</summary>\n");
  HtmlTable places{html,
                   section.id + "-accessed-places",
                   "What the trace read and wrote, by location",
                   {{"From byte", true}, {"Bytes read", true}, {"Bytes written", true}}};
  for (std::size_t i = 0; i < access.places().size(); ++i) {
    const auto& place = access.places()[i];
    if (place.requests() == 0) continue;
    places.count(i * access.place_bytes());
    places.count(place.read);
    places.count(place.written);
  }
  places.finish(0);
  html.markup("</details>\n");
  std::vector<std::pair<u32, trace_analysis::VolumeAccess::Sums>> order{access.files().begin(),
                                                                        access.files().end()};
  const auto moved = [](const auto& one) { return one.second.read / 2 + one.second.written / 2; };
  std::ranges::stable_sort(order, std::greater{}, moved);
  HtmlTable table{html,
                  section.id + "-accessed-files",
                  "Files that the trace read and wrote here, by their name in the trace, else by "
                  "the volume's name for the location",
                  {{"File"},
                   {"Named by"},
                   {"Reads", true},
                   {"Bytes read", true},
                   {"Writes", true},
                   {"Bytes written", true}}};
  for (const auto& [number, sums] : order) {
    if (table.rows() >= top) break;
    const auto& file = files[number];
    table.text(number == 0 ? "(no known file)" : file.name);
    table.word(number == 0 ? "-" : file.from_snapshot ? "the volume" : "the trace");
    table.count(sums.reads);
    table.bytes(sums.read);
    table.count(sums.writes);
    table.bytes(sums.written);
  }
  table.finish(order.size() - table.rows());
}

}  // namespace coldtrace::cli
