#include <algorithm>

#include "cli/command/common_options.hpp"
#include "cli/ntfs/history/history_lines.hpp"
#include "cli/ntfs/history/snapshot_history.hpp"
#include "cli/ntfs/history/version_text.hpp"
#include "cli/ntfs/ntfs_commands.hpp"
#include "cli/ntfs/snapshot_reader.hpp"
#include "cli/ntfs/visited_volumes.hpp"
#include "cli/output/messages.hpp"
#include "cli/output/text.hpp"
#include "cli/privacy/names_option.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/ntfs/history/history_findings.hpp"
#include "coldtrace/ntfs_privacy/hashed_path.hpp"

namespace coldtrace::cli {
namespace {

struct NtfsHistoryOptions : DiskOptions {
  NtfsHistoryOptions() { takes_snapshots = true; }

  std::vector<std::string> paths;
  NamesOptions names;
  unsigned jobs = 1;
};

class HistoryRun {
 public:
  HistoryRun(const NtfsHistoryOptions& options, const DiskInput& input,
             const privacy::HashedNames* names)
      : options_{options}, input_{input}, names_{names} {
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
                              const ntfs::Snapshot& snapshot, core::Findings of_volume) {
      view.opened = true;
      view.start = snapshot.volume().offset();
      for (const auto& gap : snapshot.gaps()) view.lost.add(gap);
      any_ = true;
      volume.history.search(snapshot, options_.jobs, of_volume, hide_names(names_, options_.jobs));
      view.findings = std::move(of_volume);
    });
    const auto unopened_again =
        visit([&](VolumeAtTimes& volume, HistoryView& view, const ntfs::Snapshot& snapshot,
                  const core::Findings& of_volume) {
          view.findings.merge_unknown(of_volume);
          const auto index = static_cast<std::size_t>(&view - volume.views.data());
          volume.history.collect(
              snapshot, index, options_.jobs, view.findings,
              show_versions(snapshot, options_.format == "text", options_.jobs, names_));
        });
    unopened.add(unopened_again);
    for (const auto& volume : volumes_) {
      for (const auto& view : volume.views) {
        if (!view.opened) continue;
        report.read(volume_title(options_.image, view.partition), view.findings);
        findings.merge(view.findings);
      }
    }
    return unopened;
  }

  const std::vector<VolumeAtTimes>& volumes() const { return volumes_; }
  bool any() const { return any_; }

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
  const privacy::HashedNames* names_;  // null: they are as they are
  std::vector<VolumeAtTimes> volumes_;
  bool any_ = false;
};

// The path that is asked for, with hashes where names have them.
std::string asked_path(std::string path, const privacy::HashedNames* names) {
  if (names == nullptr) return path;
  std::ranges::replace(path, '\\', '/');
  std::string hashed;
  ntfs::append_hashed_path(hashed, *names, path);
  return hashed;
}

constexpr auto not_in_image = "no file had such a path at any time";
constexpr auto not_in_snapshot = "no row of the snapshot has such a path";

// What was not found, and what was left out.
void note_lacks(const std::vector<VolumeAtTimes>& volumes, const std::vector<std::string>& paths,
                const privacy::HashedNames* names, const char* not_found,
                core::Findings& findings) {
  std::vector<const VolumeHistory*> histories;
  for (const auto& volume : volumes) histories.push_back(&volume.history);
  core::NoMatch unmatched;
  for (const auto i : ntfs::find_missing_paths(histories, paths.size()))
    unmatched.add_sentence(fmt::format("{}: {}", asked_path(paths[i], names), not_found));
  unmatched.report(findings);
  ntfs::note_history_limit(histories, findings);
}

bool history_of_image(const NtfsHistoryOptions& options, GivenFile given, core::Findings of_disk,
                      const privacy::HashedNames* names, Output& output, Report& report) {
  auto file = open_given_image(options, std::move(given), of_disk, report);
  if (!file) return false;
  DiskOptions of_image = options;
  of_image.shadows = {"all", "live"};
  const auto input = find_volumes(of_image, std::move(*file), of_disk, report);
  if (!input) return false;
  core::Findings findings;
  HistoryRun run{options, *input, names};
  const auto unopened = run.read(findings, report);
  input->file.add_findings(of_disk);
  findings.merge(unopened.report(options.image, run.any(), report));
  if (!run.any()) {
    report.tell(options.image, of_disk);
    return false;
  }
  note_lacks(run.volumes(), options.paths, names, not_in_image, of_disk);
  if (!of_disk.empty()) report.read(options.image, of_disk);
  findings.merge(of_disk);
  HistoryWriter writer{options.format, options.int64, options.image, names == nullptr, output};
  const auto begin = [&](JsonWriter& json) {
    write_names_member(json, names);
    write_disk(json, *input);
  };
  for (const auto& [views, history] : run.volumes()) writer.write(begin, views, history);
  writer.finish(findings);
  return true;
}

bool history_of_snapshot(const NtfsHistoryOptions& options, const GivenFile& given,
                         core::Findings findings, Output& output, Report& report) {
  if (options.names.hashed())
    throw Failure{"--names keyed-hash is for images, and this is a snapshot"};
  refuse_options_of_images(options);
  SnapshotHistory snapshot{*given.bytes, options.paths, options.partition,
                           options.format == "text"};
  if (const auto refusal = snapshot.read(findings); !refusal.empty()) {
    report.failed(options.image, refusal);
    return false;
  }
  note_lacks(snapshot.volumes(), options.paths, nullptr, not_in_snapshot, findings);
  report.read(options.image, findings);
  ntfs::note_left_out(snapshot.left_out(), findings);
  if (!options.findings.quiet) {
    say_left_out(options.image, snapshot.left_out());
    if (!snapshot.has_shadows())
      say(
          fmt::format("{}: not in the snapshot: shadow copies, if there are any; 'ntfs snapshot "
                      "--shadow all,live' lists them\n",
                      printable(options.image)));
  }
  HistoryWriter writer{options.format, options.int64, options.image, true, output};
  for (std::size_t i = 0; i < snapshot.volumes().size(); ++i) {
    const auto& header = snapshot.header(i);
    const auto begin = [&](JsonWriter& json) {
      if (header.names != "null") write_read_member(json, "names", header.names);
      write_read_member(json, "disk", header.disk);
    };
    const auto& [views, history] = snapshot.volumes()[i];
    writer.write(begin, views, history);
  }
  writer.finish(findings);
  return true;
}

Exit run_ntfs_history(const NtfsHistoryOptions& options) {
  const auto names = options.names.read_key();
  Output output{options.output};
  Report report{options.findings};
  core::Findings findings;
  auto given = open_given(options, findings, report);
  if (!given) return report.exit();
  const bool written =
      given->is_snapshot()
          ? history_of_snapshot(options, *given, std::move(findings), output, report)
          : history_of_image(options, std::move(*given), std::move(findings), names.get(), output,
                             report);
  if (written) output.commit();
  return report.exit();
}

}  // namespace

void add_ntfs_history(CLI::App& app, Exit& exit) {
  add_command<NtfsHistoryOptions>(
      app, exit,
      {"history",
       "List the versions of files in the shadow copies of their volume and in the live volume: "
       "names, sizes, times, streams, locations",
       "  coldtrace ntfs history disk.E01 /Users/user/NTUSER.DAT\n"
       "  coldtrace ntfs history --format ndjson disk.img '/Windows/System32/winevt/Logs/*.evtx'\n"
       "  coldtrace ntfs history files.ndjson.zst '/Users/*/NTUSER.DAT'\n",
       "  0  each path was found, in a shadow copy or in the live volume\n"
       "  1  one was not, or damage was found\n"
       "  2  there is no NTFS volume, or the input cannot be read\n"},
      {"text", "ndjson", "json"},
      [](Command& command, NtfsHistoryOptions& options) {
        add_volume_options(command, options);
        command
            .add_option("PATH", options.paths,
                        "Paths in the volume; ASCII case is ignored; * and ? match any characters, "
                        "including /")
            .required()
            .type_name("PATH");
        add_text_size_option(command, options.text);
        add_text_time_options(command, options.text);
        add_names_options(command, options.names);
        add_jobs_option(command, options, options.jobs);
      },
      run_ntfs_history);
}

}  // namespace coldtrace::cli
