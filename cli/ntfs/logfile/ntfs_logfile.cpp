#include "cli/command/common_options.hpp"
#include "cli/command/json_lines.hpp"
#include "cli/ntfs/logfile/log_rows.hpp"
#include "cli/ntfs/ntfs_commands.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/ntfs/volume_file.hpp"
#include "cli/output/text.hpp"
#include "cli/privacy/names_option.hpp"
#include "coldtrace/ntfs/logfile/log_findings.hpp"
#include "coldtrace/ntfs_privacy/hashed_log.hpp"
#include "coldtrace/ntfs_privacy/hashed_path.hpp"

namespace coldtrace::cli {
namespace {

constexpr VolumeFileNames log_names{"$LogFile", "log", "a $LogFile"};

struct Totals {
  u64 logs = 0;
  u64 actions = 0;
  u64 lost = 0;
  std::array<u64, ntfs::log_event_kind_count> kinds{};
};

// Writes the logs of one input, one after the other.
class LogWriter {
 public:
  LogWriter(const VolumeFileOptions& options, Output& output)
      : options_{options},
        output_{output},
        lines_{output, options.format, options.int64},
        names_{options.names.read_key()} {
    if (options.format == "csv") output_.write(log_csv_header);
  }

  // `records` may be null: no $MFT is known.
  void write(const VolumeFileSource& source, const ntfs::LogStream& stream,
             const ntfs::RecordTable* records, u32 cluster_size, core::Findings& findings);
  void finish(const core::Findings& findings);
  u64 count() const { return totals_.logs; }

 private:
  void write_header(const VolumeFileSource& source, const ntfs::LogFile& log);
  void hash_row(ntfs::LogEvent& event, LogRow& row) const;
  void write_row(const LogRow& row);

  const VolumeFileOptions& options_;
  Output& output_;
  JsonLines lines_;
  std::unique_ptr<const privacy::HashedNames> names_;  // null: they are as they are
  Totals totals_;
};

void LogWriter::write_header(const VolumeFileSource& source, const ntfs::LogFile& log) {
  if (options_.format == "text") return output_.write(log_heading(log));
  if (!options_.has_lines()) return;
  auto& json = lines_.begin_header("coldtrace.ntfs-logfile/1");
  write_names_member(json, names_.get());
  write_source(json, source, names_ == nullptr);
  write_log(json, log);
  lines_.end();
}

void LogWriter::hash_row(ntfs::LogEvent& event, LogRow& row) const {
  if (!names_) return;
  hash_names(event, *names_);
  for (auto* const path : {&row.path, &row.old_path}) {
    std::string hashed;
    ntfs::append_hashed_path(hashed, *names_, *path);
    *path = std::move(hashed);
  }
}

void LogWriter::write_row(const LogRow& row) {
  if (options_.has_lines()) {
    write_log_row(lines_.begin("operation"), row);
    lines_.end();
    return;
  }
  if (options_.format == "csv")
    append_log_csv(output_.buffer(), row);
  else
    append_log_text(output_.buffer(), row);
  output_.make_room();
}

void LogWriter::write(const VolumeFileSource& source, const ntfs::LogStream& stream,
                      const ntfs::RecordTable* records, u32 cluster_size,
                      core::Findings& findings) {
  auto log = ntfs::LogFile::read(stream, findings);
  note_log_state(log, findings);
  ++totals_.logs;
  write_header(source, log);
  if (log.restart() == nullptr) return;
  auto history = ntfs::read_log_history(log, cluster_size, findings);
  totals_.actions += history.actions;
  totals_.lost += history.lost;
  note_log_history(history, findings);
  std::optional<ntfs::LogPresence> presence;
  if (records != nullptr) presence.emplace(*records);
  std::optional<VolumeName> volume;
  if (source.volume != nullptr) volume.emplace(options_.image, *source.partition, *source.volume);
  for (auto& event : history.events) {
    ++totals_.kinds[static_cast<std::size_t>(event.kind)];
    LogRow row{event, log, {}, {}, {}, volume};
    if (presence) {
      row.present = presence->find(event);
      presence->add_name(event);
      if (event.after) row.path = presence->path_of(*event.after);
      if (event.before) row.old_path = presence->path_of(*event.before);
    }
    hash_row(event, row);
    write_row(row);
  }
}

void LogWriter::finish(const core::Findings& findings) {
  if (!options_.has_lines()) return;
  auto& json = lines_.begin_summary();
  json.key("counts").begin_object().field("logs", totals_.logs).field("actions", totals_.actions);
  json.field("lost_records", totals_.lost);
  json.key("operations").begin_object();
  for (std::size_t i = 0; i < totals_.kinds.size(); ++i)
    json.key(to_string(static_cast<ntfs::LogEventKind>(i))).value(totals_.kinds[i]);
  json.end_object().end_object();
  json.key("findings");
  write_findings(json, findings);
  lines_.end_summary();
}

ntfs::RecordTable read_records(const ntfs::Volume& volume, unsigned jobs,
                               core::Findings& findings) {
  std::vector<ntfs::Gap> gaps;
  return ntfs::RecordTable::scan(volume.image(), volume.mft(), jobs, findings, gaps);
}

Exit run_copy(const VolumeFileOptions& options, const ntfs::ImageFile& file,
              core::Findings findings, Report& report) {
  constexpr u32 usual_cluster_size = 4096;
  if (options.locates_volume() || !options.shadows.empty())
    throw Failure{
        fmt::format("{}: it is a copied $LogFile: options that locate a volume are for images",
                    printable(options.image))};
  Output output{options.output};
  std::optional<ntfs::RecordTable> records;
  const auto read = [&](const ntfs::Volume& volume, core::Findings& of_mft) {
    records.emplace(read_records(volume, options.jobs, of_mft));
  };
  if (!options.mft.empty() && !use_mft_file(options, report, read)) return Exit::failure;
  LogWriter writer{options, output};
  const auto stream = ntfs::LogStream::of_file(*file.source);
  writer.write({}, stream, records ? &*records : nullptr,
               static_cast<u32>(options.cluster_size.value_or(usual_cluster_size)), findings);
  file.add_findings(findings);
  report.read(options.image, findings);
  writer.finish(findings);
  output.commit();
  return report.exit();
}

// False where there is no log.
bool write_volume_log(LogWriter& writer, const DiskInput& input, const ntfs::Partition& partition,
                      const ntfs::Volume& volume, unsigned jobs, core::Findings& findings) {
  const auto stream = ntfs::LogStream::of_volume(volume);
  if (!stream) {
    note_no_log(volume, findings);
    return false;
  }
  const auto records = read_records(volume, jobs, findings);
  writer.write({&input, &partition, &volume}, *stream, &records,
               volume.mft().clusters().cluster_size, findings);
  return true;
}

Exit run_ntfs_logfile(const VolumeFileOptions& options) {
  Report report{options.findings};
  core::Findings findings;
  auto given = open_given(options, findings, report);
  if (!given) return report.exit();
  auto file = open_given_image(options, std::move(*given), findings, report);
  if (!file) return report.exit();
  const bool erased = file->kind == core::FileKind::unknown && !options.locates_volume() &&
                      ntfs::is_erased_log(*file->source);
  if (options.copied || erased || file->kind == core::FileKind::ntfs_log_file)
    return run_copy(options, *file, std::move(findings), report);
  return write_volume_files<LogWriter>(
      options, log_names, std::move(*file), std::move(findings), report,
      [&](LogWriter& writer, const DiskInput& input, const ntfs::Partition& partition,
          const ntfs::Volume& volume, core::Findings& found) {
        return write_volume_log(writer, input, partition, volume, options.jobs, found);
      });
}

}  // namespace

void add_ntfs_logfile(CLI::App& app, Exit& exit) {
  add_command<VolumeFileOptions>(
      app, exit,
      {"logfile",
       "List what the log of NTFS volumes ($LogFile) shows: whether it is clean, and files that "
       "were created, "
       "renamed and deleted, with the records that say so",
       "  coldtrace ntfs logfile disk.E01 -o log.ndjson\n"
       "  coldtrace ntfs logfile --format text --partition 2 disk.img\n"
       "  coldtrace ntfs logfile --mft-file '$MFT' '$LogFile'\n",
       "  0  the log was read to its end; it may be dirty or erased\n"
       "  1  damage: pages cannot be read, or no restart page can\n"
       "  2  there is no log, or it cannot be read\n"},
      {"ndjson", "json", "csv", "text"},
      [](Command& command, VolumeFileOptions& options) {
        add_volume_file_options(command, options);
        add_names_options(command, options.names);
        add_jobs_option(command, options, options.jobs);
      },
      run_ntfs_logfile);
}

}  // namespace coldtrace::cli
