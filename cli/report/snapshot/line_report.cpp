#include "cli/report/snapshot/line_report.hpp"

#include <optional>

#include "cli/ntfs/snapshot_reader.hpp"
#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_members.hpp"
#include "cli/report/snapshot/summary_line.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/snapshot-file/stated_clusters.hpp"

namespace coldtrace::cli {
namespace {

using ntfs::State;
using rapidjson::Value;

// Volumes of one file, each of which has tables of hundreds of rows however short it is.
constexpr u64 most_volumes = 256;

std::vector<ShownFinding> read_findings(const Value& summary) {
  constexpr std::size_t most = 1000;
  std::vector<ShownFinding> shown;
  const auto* const findings = find_member(summary, "findings", &Value::IsArray);
  if (findings == nullptr) return shown;
  for (const auto& one : findings->GetArray())
    if (shown.size() < most && one.IsObject())
      shown.push_back({text_member(one, "code"), text_member(one, "severity"),
                       number_member(one, "count").value_or(1), number_member(one, "first_offset"),
                       text_member(one, "text")});
  return shown;
}

ntfs::ClusterMap read_clusters(const Value& header, const Value& volume,
                               MistypedMembers& mistyped) {
  const auto placed = ntfs::place_clusters(read_stated_clusters(header, volume));
  if (!placed.size_fits) mistyped.add("cluster_size");
  if (!placed.count_fits) mistyped.add("clusters");
  return placed.map;
}

// Makes sections of the lines of snapshots, one by one.
class ReportedLines {
 public:
  ReportedLines(Page& page, const SnapshotReportOptions& options, core::Findings& findings,
                MistypedMembers& mistyped)
      : page_{page},
        options_{options},
        findings_{findings},
        sections_before_{page.sections.size()},
        data_before_{page.data.size()},
        paragraphs_before_{page.overview.size()},
        traced_before_{options.traced == nullptr ? 0 : options.traced->volumes()},
        mistyped_{mistyped} {}

  // False where the line cannot be used.
  bool read(std::string_view type, const Value& json) {
    if (!volume_) return false;
    if (type == "gap") return true;
    if (!lines_->read(json, row_)) return false;
    volume_->add(row_);
    return true;
  }

  // All lines were read. Empty where there are sections, else why not.
  std::string finish(const SnapshotReader& reader) {
    reader.report_whole(findings_);
    if (reader.complete()) reader.names().report("are not in the page", findings_);
    report_lacking();
    mistyped_.report(findings_);
    const bool alone = volumes_ == 1;
    append_findings(findings_, alone ? of_volume_ : of_all_);
    end_volume();
    if (auto refusal = find_refusal(); !refusal.empty()) {
      take_back();
      return refusal;
    }
    if (!of_all_.empty()) {
      auto& html = add_section(page_, options_.id + "-all", "Findings of the snapshot");
      write_findings_table(html, options_.id + "-all-findings", of_all_);
    }
    write_overview(reader.names());
    reader.report_damage(findings_);
    return {};
  }

  bool read_header(const Value& json) {
    end_volume();
    ++part_volumes_;
    if (++volumes_ > most_volumes) return false;
    const auto* const volume = find_member(json, "volume", &Value::IsObject);
    const auto* const partition = find_member(json, "partition", &Value::IsObject);
    if (volume == nullptr || partition == nullptr) return false;
    const auto number = number_member(*partition, "number").value_or(0);
    std::optional<ShownShadow> shadow;
    if (const auto* copy = find_member(*partition, "shadow", &Value::IsObject))
      shadow =
          ShownShadow{number_member(*copy, "number").value_or(0), text_member(*copy, "created")};
    auto id = fmt::format("{}-{}", options_.id, number);
    if (!ids_.insert(id).second) id += fmt::format("-{}", volumes_);
    const auto clusters = read_clusters(json, *volume, mistyped_);
    note_disk(json);
    volume_.emplace(page_,
                    ShownVolume{volume_heading(number, text_member(*volume, "label"), shadow), id,
                                clusters, is_of_mft_alone(*volume)},
                    options_, findings_);
    lines_.emplace(clusters, lacking_, mistyped_);
    return true;
  }

  // Behind the rows. False of a line without counts, which is none of a snapshot.
  bool read_summary(const Value& json) {
    const auto* const counts = find_member(json, "counts", &Value::IsObject);
    if (!volume_ || counts == nullptr) return false;
    auto findings = read_findings(json);
    auto& known = part_volumes_ == 1 ? of_volume_ : of_all_;
    known.insert(known.end(), std::make_move_iterator(findings.begin()),
                 std::make_move_iterator(findings.end()));
    // Null of a volume that was chosen of several, where the snapshot left out names of the state.
    for (std::size_t i = 0; i < ntfs::state_count; ++i) {
      const std::string state{to_string(static_cast<State>(i))};
      if (!number_member(*counts, state.c_str()) &&
          find_member(*counts, state.c_str(), &Value::IsNull) == nullptr)
        mistyped_.add("counts");
    }
    part_volumes_ = 0;
    return true;
  }

 private:
  // How large the disk is, where the snapshot is of a whole one.
  void note_disk(const Value& header) {
    const auto* const disk = find_member(header, "disk", &Value::IsObject);
    if (options_.traced == nullptr || disk == nullptr) return;
    const auto table = text_member(*disk, "table");
    const auto size = number_member(*disk, "size");
    if (size && !table.empty() && table != to_string(ntfs::DiskKind::volume))
      options_.traced->set_whole_disk(*size);
  }

  // A volume whose rows cannot be told from each other has no section.
  void end_volume() {
    if (!volume_) return;
    if (volume_->rows() == 0 && !lacking_.empty())
      volume_->abandon();
    else
      volume_->finish(of_volume_);
    volume_.reset();
    of_volume_.clear();
  }

  std::string find_refusal() const {
    if (volumes_ > most_volumes)
      return fmt::format("{} volumes: at most {} are shown", volumes_, most_volumes);
    if (page_.sections.size() > sections_before_) return {};
    return lacking_.empty() ? std::string{"its first line does not say which volume it describes"}
                            : fmt::format(
                                  "rows lack members that identify their files:{}. Take "
                                  "the snapshot without --fields",
                                  lacking_text());
  }

  // The page is as it was.
  void take_back() {
    const auto cut = [](auto& list, std::size_t count) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(count), list.end());
    };
    cut(page_.sections, sections_before_);
    cut(page_.data, data_before_);
    cut(page_.overview, paragraphs_before_);
    if (options_.traced != nullptr) options_.traced->keep_volumes(traced_before_);
  }

  std::string lacking_text() const {
    std::string text;
    for (const auto name : lacking_) text += fmt::format(" {}", name);
    return text;
  }

  void report_lacking() {
    if (!lacking_.empty())
      findings_.warning("report-members", std::nullopt,
                        "rows of the snapshot lack members that the page shows:{}", lacking_text());
  }

  void write_overview(const ntfs::SnapshotNames& names) {
    std::string left_out;
    for (std::size_t i = 0; i < ntfs::state_count; ++i)
      if (const auto count = names.left_out(static_cast<State>(i)); count > 0)
        left_out += fmt::format("{}{} {}", left_out.empty() ? "" : ", ", grouped(count),
                                to_string(static_cast<State>(i)));
    page_.overview.push_back(
        "The disk is shown as a snapshot lists it; a snapshot does not record which clusters are "
        "free.");
    if (!left_out.empty())
      page_.overview.push_back(
          fmt::format("Names that the snapshot leaves out: {}. 'coldtrace ntfs snapshot --state "
                      "all' lists them.",
                      left_out));
    if (findings_.has_warnings())
      page_.overview.push_back(
          "The snapshot is incomplete, or not as it was written: see the findings.");
  }

  Page& page_;
  const SnapshotReportOptions& options_;
  core::Findings& findings_;
  std::size_t sections_before_, data_before_, paragraphs_before_, traced_before_;
  std::optional<VolumeReport> volume_;
  std::optional<SummaryLines> lines_;  // of the volume
  ntfs::SummaryRow row_;
  std::set<std::string> ids_;
  std::set<std::string_view> lacking_;
  MistypedMembers& mistyped_;
  u64 volumes_ = 0;
  u64 part_volumes_ = 0;  // of the snapshot that is being read
  std::vector<ShownFinding> of_volume_, of_all_;
};

}  // namespace

bool add_line_report(Page& page, const SnapshotFile& file, const SnapshotReportOptions& options,
                     core::Findings findings, Report& report) {
  MistypedMembers mistyped;
  SnapshotReader reader{file.bytes, mistyped};
  ReportedLines reported{page, options, findings, mistyped};
  const bool read = reader.read_all(
      Int64::number,
      [&](const SnapshotHeader&, const Value& json) { return reported.read_header(json); },
      [&](std::string_view type, const Value& json) { return reported.read(type, json); },
      [&](const Value& json) { return reported.read_summary(json); });
  if (!read) {
    report.failed(file.path, reader.why_none());
    return false;
  }
  if (const auto refusal = reported.finish(reader); !refusal.empty()) {
    report.failed(file.path, refusal);
    return false;
  }
  report.read(file.path, findings);
  return true;
}

}  // namespace coldtrace::cli
