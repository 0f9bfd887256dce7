#include <algorithm>

#include "cli/command/common_options.hpp"
#include "cli/ntfs/history/history_lines.hpp"
#include "cli/ntfs/history/version_text.hpp"
#include "cli/ntfs/ntfs_commands.hpp"
#include "cli/ntfs/visited_volumes.hpp"
#include "coldtrace/core/no_match.hpp"

namespace coldtrace::cli {
namespace {

struct NtfsHistoryOptions : DiskOptions {
  NtfsHistoryOptions() { shadows = {"all", "live"}; }

  std::vector<std::string> paths;
  unsigned jobs = 1;
};

// One volume at all its times.
struct VolumeAtTimes {
  std::vector<HistoryView> views;
  VolumeHistory history;
};

class HistoryRun {
 public:
  HistoryRun(const NtfsHistoryOptions& options, const DiskInput& input)
      : options_{options}, input_{input} {
    for (const auto& partition : input.chosen) {
      if (volumes_.empty() || volumes_.back().views.front().partition.offset != partition.offset)
        volumes_.push_back({{}, VolumeHistory{options.paths}});
      volumes_.back().views.push_back({partition});
    }
  }

  // Reads all views twice: what the files are called in one is known once all were searched.
  // Returns those that cannot be opened.
  UnopenedVolumes read(core::Findings& findings, Report& report) {
    auto unopened = visit([&](VolumeAtTimes& volume, HistoryView& view,
                              const ntfs::Snapshot& snapshot, const core::Findings& of_volume) {
      view.opened = true;
      any_ = true;
      volume.history.search(snapshot, options_.jobs);
      report.read(volume_title(options_.image, view.partition), of_volume);
      findings.merge(of_volume);
    });
    visit([&](VolumeAtTimes& volume, HistoryView& view, const ntfs::Snapshot& snapshot,
              const core::Findings&) {
      const auto index = static_cast<std::size_t>(&view - volume.views.data());
      volume.history.collect(snapshot, index, options_.jobs,
                             show_versions(snapshot, options_.format == "text", options_.jobs));
    });
    return unopened;
  }

  const std::vector<VolumeAtTimes>& volumes() const { return volumes_; }
  bool any() const { return any_; }

  // What was not found, and what was left out.
  void note_lacks(core::Findings& findings) const {
    core::NoMatch unmatched;
    for (std::size_t i = 0; i < options_.paths.size(); ++i)
      if (std::ranges::none_of(
              volumes_, [&](const VolumeAtTimes& volume) { return volume.history.found()[i]; }))
        unmatched.add_sentence(
            fmt::format("{}: no file had such a path at any time", options_.paths[i]));
    unmatched.report(findings);
    if (std::ranges::any_of(volumes_,
                            [](const VolumeAtTimes& volume) { return volume.history.limited(); }))
      findings.warning("history-limit", std::nullopt,
                       "there are more than {} files or versions of them, and the others are left "
                       "out",
                       VolumeHistory::most_versions);
  }

 private:
  template <class Visit>
  UnopenedVolumes visit(Visit visit) {
    return visit_volumes(
        input_, options_,
        [&](const ntfs::Partition& partition, const ntfs::Volume& opened, core::Findings findings) {
          TerminalProgress progress{options_.output, options_.findings.quiet};
          const auto snapshot = take_snapshot(opened, options_.jobs, false, progress, findings);
          const auto number = [](const ntfs::Partition& of) {
            return of.shadow ? of.shadow->number : 0;
          };
          for (auto& volume : volumes_)
            for (auto& view : volume.views)
              if (view.partition.offset == partition.offset &&
                  number(view.partition) == number(partition))
                visit(volume, view, snapshot, findings);
        });
  }

  const NtfsHistoryOptions& options_;
  const DiskInput& input_;
  std::vector<VolumeAtTimes> volumes_;
  bool any_ = false;
};

Exit run_ntfs_history(const NtfsHistoryOptions& options) {
  Output output{options.output};
  Report report{options.findings};
  core::Findings of_disk;
  const auto input = open_disk(options, report, of_disk);
  if (!input) return report.exit();
  core::Findings findings;
  HistoryRun run{options, *input};
  const auto unopened = run.read(findings, report);
  input->file.add_findings(of_disk);
  findings.merge(unopened.report(options.image, run.any(), report));
  if (!run.any()) {
    report.tell(options.image, of_disk);
    return report.exit();
  }
  run.note_lacks(of_disk);
  if (!of_disk.empty()) report.read(options.image, of_disk);
  findings.merge(of_disk);
  HistoryWriter writer{options.format, options.int64, options.image, output};
  for (const auto& [views, history] : run.volumes()) writer.write(*input, views, history);
  writer.finish(findings);
  output.commit();
  return report.exit();
}

}  // namespace

void add_ntfs_history(CLI::App& app, Exit& exit) {
  add_command<NtfsHistoryOptions>(
      app, exit,
      {"history",
       "List the versions of files in the shadow copies of their volume, and now: names, sizes, "
       "times, streams, places",
       "  coldtrace ntfs history disk.E01 /Users/user/NTUSER.DAT\n"
       "  coldtrace ntfs history --format ndjson disk.img '/Windows/System32/winevt/Logs/*.evtx'\n",
       "  0  each path was found, in some shadow copy or now\n"
       "  1  one was not, or damage was found\n"
       "  2  there is no NTFS volume, or the image cannot be read\n"},
      {"text", "ndjson", "json"},
      [](Command& command, NtfsHistoryOptions& options) {
        add_volume_options(command, options);
        command
            .add_option("PATH", options.paths,
                        "Paths in the volume; ASCII case is ignored; * and ? match any "
                        "characters, / too")
            .required()
            .type_name("PATH");
        add_text_time_options(command, options.text);
        add_jobs_option(command, options, options.jobs);
      },
      run_ntfs_history);
}

}  // namespace coldtrace::cli
