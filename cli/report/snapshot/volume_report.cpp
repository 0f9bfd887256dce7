#include "cli/report/snapshot/volume_report.hpp"

#include <algorithm>

#include "cli/report/snapshot/volume_names_data.hpp"
#include "coldtrace/ntfs/snapshot-file/stated_clusters.hpp"

namespace coldtrace::cli {
namespace {

// Of a volume with more names those whose files are largest are searched.
constexpr std::size_t most_names = 250'000;

}  // namespace

std::string volume_heading(u64 partition, std::string_view label,
                           const std::optional<ShownShadow>& shadow) {
  auto title = partition == 0 ? std::string{"Volume"} : fmt::format("Partition {}", partition);
  if (!label.empty()) title += fmt::format(" \"{}\"", label);
  if (shadow) {
    title += fmt::format(", shadow copy {}", shadow->number);
    if (!shadow->created.empty()) title += " of " + shadow->created.substr(0, 19);
  }
  return title;
}

VolumeReport::VolumeReport(Page& page, ShownVolume volume, const SnapshotReportOptions& options,
                           core::Findings& findings)
    : page_{page},
      volume_{std::move(volume)},
      options_{options},
      traced_{options.traced != nullptr && ntfs::has_places_on_disk(volume_.of_mft_alone, findings)
                  ? options.traced
                  : nullptr},
      summary_{volume_.clusters.clusters, static_cast<std::size_t>(options.top)},
      names_{most_names} {
  if (traced_ != nullptr) traced_->begin_volume(page.sections.size(), volume_.clusters, summary_);
}

void VolumeReport::add(const ntfs::SummaryRow& row) {
  ++rows_;
  summary_.add(row);
  names_.add(row);
  if (traced_ != nullptr) traced_->add(row);
}

void VolumeReport::add_use(ntfs::ClusterUseCounter& counter, core::Findings& findings) {
  use_ = counter.finish();
  ntfs::note_cluster_use(use_, findings);
}

void VolumeReport::abandon() {
  if (traced_ != nullptr) traced_->keep_volumes(traced_->volumes() - 1);
}

// In what room the page has, less a fifth for what follows.
void VolumeReport::write_names(const VolumeAnswers& answers) {
  const auto written = size_of(page_);
  const auto room = (options_.largest - std::min(options_.largest, written)) / 5 * 4;
  auto data = names_data(answers, names_, room);
  write_search(page_.sections.back().content, answers, names_, data);
  if (data.names > 0) page_.data.push_back(std::move(data.packed));
}

void VolumeReport::finish(const std::vector<ShownFinding>& findings) {
  summary_.finish();
  names_.finish();
  const auto& clusters = volume_.clusters;
  const VolumeAnswers answers{summary_,   findings,     clusters.cluster_size,
                              volume_.id, options_.top, std::move(use_)};
  auto& html = add_section(page_, answers.id, volume_.title);
  const auto live = summary_.states()[static_cast<std::size_t>(ntfs::State::live)];
  const bool sized = clusters.cluster_size != 0;
  page_.overview.push_back(fmt::format(
      "{}: {}; {}{}, and {} that are deleted.", volume_.title,
      sized ? fmt::format("{} in clusters of {}",
                          short_bytes(clusters.clusters * clusters.cluster_size),
                          short_bytes(clusters.cluster_size))
            : "its size and that of its clusters are not known",
      counted(live.names, "name", "names"),
      sized ? fmt::format(" with {}", short_bytes(live.bytes)) : "",
      grouped(summary_.states()[static_cast<std::size_t>(ntfs::State::deleted)].names)));
  if (!sized)
    html.element("p",
                 "The size of this volume and of its clusters is not known, as with a $MFT copied "
                 "alone: the space that files take is not shown, and there is no map.");
  write_states(html, answers);
  write_sizes(html, answers);
  write_activity(html, answers);
  write_map(html, answers);
  write_files(html, answers);
  write_volume_findings(html, answers);
  if (sized) page_.data.push_back(volume_data(answers));
  write_names(answers);
}

}  // namespace coldtrace::cli
