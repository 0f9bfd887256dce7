#include <algorithm>
#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/json_lines.hpp"
#include "cli/ntfs/journal/journal_formats.hpp"
#include "cli/ntfs/ntfs_commands.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/ntfs/volume_file.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/output/text.hpp"
#include "cli/privacy/names_option.hpp"
#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/parallel.hpp"
#include "coldtrace/ntfs/journal/carved_journals.hpp"
#include "coldtrace/ntfs/journal/change_journal.hpp"
#include "coldtrace/ntfs/journal/journal_findings.hpp"
#include "coldtrace/ntfs/journal/journal_replay.hpp"
#include "coldtrace/ntfs/journal/journal_times.hpp"
#include "coldtrace/ntfs_privacy/hashed_journal.hpp"

namespace coldtrace::cli {
namespace {

constexpr VolumeFileNames journal_names{"$J", "journal", "a change journal"};

struct NtfsJournalOptions : VolumeFileOptions {
  bool events = false;
  bool deleted = false;
  bool carve = false;

  bool is_of_volume() const {
    return locates_volume() || cluster_size || deleted || carve || !shadows.empty();
  }
  JournalFormatOptions row_format(bool carved = false) const {
    return {format, image, events, int64, {}, carve ? std::optional{carved} : std::nullopt};
  }
};

struct Batch {
  ntfs::JournalBatch rows;
  core::TextBuffer text;
  core::Findings findings;
};

struct Totals {
  u64 journals = 0;
  ntfs::JournalCounts counts;
  core::Findings findings;

  void add(const ntfs::JournalCounts& other) {
    ++journals;
    counts.records += other.records;
    counts.events += other.events;
    counts.open_events += other.open_events;
    counts.gaps += other.gaps;
    counts.uncertain_paths += other.uncertain_paths;
  }
};

// A journal of a volume, or a copy of one.
struct Source : VolumeFileSource {
  const ntfs::ChangeJournal* journal = nullptr;
  bool carved = false;
};

// Writes the journals of one input, one after the other.
class JournalWriter {
 public:
  JournalWriter(const NtfsJournalOptions& options, Output& output)
      : options_{options},
        output_{output},
        lines_{output, options.format, options.int64},
        names_{options.names.read_key()} {
    output_.write(journal_csv_header(options.row_format()));
    if (options.format == "text") output_.write(journal_text_heading());
  }

  // `times` may be null: no $MFT is known.
  void write(const Source& source, const ntfs::JournalStream& stream,
             ntfs::DirectoryHistory directories, ntfs::JournalTimes* times,
             core::Findings& findings);
  void finish(const core::Findings& findings);
  u64 count() const { return totals_.journals; }

 private:
  void write_header(const Source& source, const ntfs::JournalStream& stream);
  void write_rows(const Source& source, ntfs::JournalReplay& replay, TerminalProgress& progress,
                  core::Findings& findings);

  const NtfsJournalOptions& options_;
  Output& output_;
  JsonLines lines_;
  std::unique_ptr<const privacy::HashedNames> names_;  // null: they are as they are
  Totals totals_;
};

std::string_view state_of(const Source& source) {
  if (source.carved) return "carved";
  return !source.journal ? "copied" : source.journal->in_use ? "live" : "deleted";
}

void write_journal(JsonWriter& json, const Source& source, const ntfs::JournalStream& stream) {
  const auto* const journal = source.journal;
  const auto& settings = journal ? journal->settings : std::nullopt;
  const auto optional = [](bool known, auto value) {
    return known ? std::optional<decltype(value)>{value} : std::nullopt;
  };
  json.key("journal").begin_object();
  json.key("record").value(optional(journal != nullptr, journal ? journal->file.record : 0));
  json.key("sequence").value(optional(journal != nullptr, journal ? journal->file.sequence : 0));
  json.field("state", state_of(source));
  json.field("size", stream.size());
  json.key("id").value(settings ? std::optional{fmt::format("{:016x}", settings->id)}
                                : std::nullopt);
  json.key("made").value(settings && settings->id != 0
                             ? std::optional{core::to_string(core::FileTime{settings->id})}
                             : std::nullopt);
  json.key("maximum_size")
      .value(optional(settings.has_value(), settings ? settings->maximum_size : 0));
  json.key("allocation_delta")
      .value(optional(settings.has_value(), settings ? settings->allocation_delta : 0));
  json.key("lowest_valid_usn")
      .value(optional(settings.has_value(), settings ? settings->lowest_valid_usn : 0));
  json.end_object();
}

void JournalWriter::write_header(const Source& source, const ntfs::JournalStream& stream) {
  auto& json = lines_.begin_header("coldtrace.ntfs-journal/1");
  write_names_member(json, names_.get());
  write_source(json, source, names_ == nullptr);
  write_journal(json, source, stream);
  lines_.end();
}

// Paths are found in turn, formatting is shared by the jobs.
void JournalWriter::write_rows(const Source& source, ntfs::JournalReplay& replay,
                               TerminalProgress& progress, core::Findings& findings) {
  progress.begin("reading the journal", "rows", replay.size());
  auto format_options = options_.row_format(source.carved);
  if (source.volume != nullptr)
    format_options.volume.emplace(options_.image, *source.partition, *source.volume);
  std::vector<std::unique_ptr<JournalFormat>> formats;
  for (unsigned i = 0; i < std::max(options_.jobs, 1U); ++i)
    formats.push_back(make_journal_format(format_options));
  std::vector<ntfs::JournalHasher> hashers;
  for (std::size_t i = 0; names_ && i < formats.size(); ++i) hashers.emplace_back(*names_);
  core::ordered_pipeline<Batch>(
      options_.jobs,
      [&](Batch& batch) {
        batch.findings = {};
        return replay.next(batch.rows, batch.findings);
      },
      [&](unsigned worker, Batch& batch) {
        auto& format = *formats[worker];
        batch.text.clear();
        if (names_) hashers[worker].hash(batch.rows);
        auto gap = batch.rows.gaps.begin();
        const auto write_gaps = [&](std::size_t row) {
          for (; gap != batch.rows.gaps.end() && gap->before_row <= row; ++gap)
            format.write_gap(*gap, batch.text);
        };
        for (std::size_t row = 0; row < batch.rows.rows.size(); ++row) {
          write_gaps(row);
          format.write(batch.rows, batch.rows.rows[row], batch.text);
        }
        write_gaps(batch.rows.rows.size());
      },
      [&](Batch& batch) {
        output_.write(batch.text.view());
        findings.merge(batch.findings);
        progress.add(batch.rows.size, batch.rows.rows.size());
      });
}

void JournalWriter::write(const Source& source, const ntfs::JournalStream& stream,
                          ntfs::DirectoryHistory directories, ntfs::JournalTimes* times,
                          core::Findings& findings) {
  if (options_.has_lines()) write_header(source, stream);
  const bool deleted = source.carved || (source.journal && !source.journal->in_use);
  TerminalProgress progress{options_.output, options_.findings.quiet};
  const auto begin = [&](u64 bytes) {
    progress.begin("reading the journal backwards", "records", bytes);
    return progress.hook();
  };
  ntfs::JournalReplay replay{stream,
                             std::move(directories),
                             {.events = options_.events,
                              .in_place = source.journal != nullptr || source.carved,
                              .times = deleted ? nullptr : times,
                              .current = !deleted,
                              .begin = begin,
                              .jobs = options_.jobs}};
  write_rows(source, replay, progress, findings);
  totals_.add(replay.counts());
}

void JournalWriter::finish(const core::Findings& findings) {
  if (!options_.has_lines()) return;
  const auto& counts = totals_.counts;
  auto& json = lines_.begin_summary();
  json.key("counts")
      .begin_object()
      .field("journals", totals_.journals)
      .field("records", counts.records)
      .field("events", counts.events)
      .field("open_events", counts.open_events)
      .field("gaps", counts.gaps)
      .field("uncertain_paths", counts.uncertain_paths)
      .end_object();
  json.key("findings");
  write_findings(json, findings);
  lines_.end_summary();
}

// What $MFT knows of directories.
struct Directories {
  ntfs::RecordTable records;
  ntfs::DirectoryHistory history;
};

Directories read_directories(const ntfs::Volume& volume, const NtfsJournalOptions& options,
                             core::Findings& findings) {
  TerminalProgress progress{options.output, options.findings.quiet};
  const auto& mft = volume.mft();
  progress.begin("reading $MFT", "records",
                 core::saturating_multiply(mft.stored_count(), mft.record_size()));
  std::vector<ntfs::Gap> gaps;
  Directories directories{
      ntfs::RecordTable::scan(volume.image(), mft, options.jobs, findings, gaps, nullptr,
                              ntfs::Arena::chunk_limit, progress.hook()),
      {}};
  directories.history.start_from(directories.records);
  return directories;
}

Exit run_copy(const NtfsJournalOptions& options, const ntfs::ImageFile& file,
              core::Findings findings, Report& report) {
  if (options.is_of_volume())
    throw Failure{fmt::format("{}: it is a copied $J: options that locate a volume are for images",
                              printable(options.image))};
  Output output{options.output};
  std::optional<Directories> directories;
  std::optional<ntfs::JournalTimes> times;
  if (!options.mft.empty()) {
    const auto read = [&](const ntfs::Volume& volume, core::Findings& of_mft) {
      directories.emplace(read_directories(volume, options, of_mft));
    };
    if (!use_mft_file(options, report, read)) return Exit::failure;
    times.emplace(directories->records);
    times->ask_for_volume();
  }
  JournalWriter writer{options, output};
  const auto stream = ntfs::JournalStream::of_file(*file.source);
  writer.write({}, stream, directories ? std::move(directories->history) : ntfs::DirectoryHistory{},
               times ? &*times : nullptr, findings);
  if (times) times->report_volume(findings);
  file.add_findings(findings);
  report.read(options.image, findings);
  writer.finish(findings);
  output.commit();
  return report.exit();
}

// Returns how many there are.
std::size_t write_carved_journals(const NtfsJournalOptions& options, const VolumeFileSource& source,
                                  std::span<const ntfs::ChangeJournal> known,
                                  const ntfs::DirectoryHistory& directories, JournalWriter& writer,
                                  core::Findings& findings) {
  TerminalProgress progress{options.output, options.findings.quiet};
  const auto& clusters = source.volume->mft().clusters();
  progress.begin("searching free clusters", "pages",
                 core::saturating_multiply(clusters.clusters, clusters.cluster_size));
  const auto carved = carve_journals(*source.volume, known, progress.hook(), findings);
  for (const auto& stream : carved.streams)
    writer.write({source, nullptr, true}, stream, directories, nullptr, findings);
  return carved.streams.size();
}

// False where there is no journal.
bool write_volume_journals(const NtfsJournalOptions& options, const DiskInput& input,
                           const ntfs::Partition& partition, const ntfs::Volume& volume,
                           JournalWriter& writer, core::Findings& findings) {
  const auto directories = read_directories(volume, options, findings);
  const auto journals = find_change_journals(volume, directories.records, findings);
  const bool reads_deleted = options.deleted || options.carve;
  std::size_t written = 0;
  for (const auto& journal : journals) {
    if (!journal.in_use && !reads_deleted) continue;
    ntfs::JournalTimes times{directories.records};
    writer.write({{&input, &partition, &volume}, &journal}, journal.stream, directories.history,
                 &times, findings);
    ++written;
  }
  note_journals(journals, reads_deleted, partition.offset, findings);
  const auto carved = options.carve
                          ? write_carved_journals(options, {&input, &partition, &volume}, journals,
                                                  directories.history, writer, findings)
                          : 0;
  return written + carved > 0;
}

Exit run_ntfs_journal(const NtfsJournalOptions& options) {
  Report report{options.findings};
  core::Findings findings;
  auto given = open_given(options, findings, report);
  if (!given) return report.exit();
  auto file = open_given_image(options, std::move(*given), findings, report);
  if (!file) return report.exit();
  if (options.copied || file->kind == core::FileKind::ntfs_usn_journal)
    return run_copy(options, *file, std::move(findings), report);
  const auto write = [&options](JournalWriter& writer, const DiskInput& input,
                                const ntfs::Partition& partition, const ntfs::Volume& volume,
                                core::Findings& of_volume) {
    return write_volume_journals(options, input, partition, volume, writer, of_volume);
  };
  return write_volume_files<JournalWriter>(options, journal_names, std::move(*file),
                                           std::move(findings), report, write);
}

}  // namespace

void add_ntfs_journal(CLI::App& app, Exit& exit) {
  add_command<NtfsJournalOptions>(
      app, exit,
      {"journal",
       "List what the change journal of NTFS volumes ($UsnJrnl) records: what was created, "
       "changed, renamed and deleted, with the paths at that time",
       "  coldtrace ntfs journal disk.E01 -o journal.ndjson\n"
       "  coldtrace ntfs journal --events --format csv --partition 2 disk.img\n"
       "  coldtrace ntfs journal --mft-file '$MFT' '$J'\n"
       "  coldtrace ntfs journal --carve --format csv disk.img\n"
       "  coldtrace ntfs journal --format bodyfile disk.img | mactime -b -\n",
       "  0  the journal was read to its end\n"
       "  1  damage: records are lost, or contradict each other or their positions\n"
       "  2  there is no journal, or it cannot be read\n"},
      {"ndjson", "json", "csv", "mftecmd-csv", "l2tcsv", "bodyfile", "text"},
      [](Command& command, NtfsJournalOptions& options) {
        add_volume_file_options(command, options);
        command.add_flag("--events", options.events,
                         "Merge a file's records, up to its close, into one row");
        command.add_flag("--deleted", options.deleted, "Also the remains of deleted journals");
        command.add_flag("--carve", options.carve,
                         "Also carve journal records from the free clusters, all of which are "
                         "read; implies --deleted; rows show which are carved");
        add_names_options(command, options.names);
        add_jobs_option(command, options, options.jobs);
      },
      run_ntfs_journal);
}

}  // namespace coldtrace::cli
