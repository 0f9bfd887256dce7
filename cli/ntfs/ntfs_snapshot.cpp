#include <algorithm>
#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/ntfs/ntfs_commands.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/ntfs/ntfs_tables.hpp"
#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/ntfs/rows/time_sorted_rows.hpp"
#include "cli/ntfs/shadow_option.hpp"
#include "cli/ntfs/snapshot_document.hpp"
#include "cli/ntfs/visited_volumes.hpp"
#include "cli/output/messages.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/output/text.hpp"
#include "cli/privacy/names_option.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/core/parallel.hpp"
#include "coldtrace/ntfs/walk.hpp"
#include "coldtrace/ntfs_privacy/hashed_row.hpp"

namespace coldtrace::cli {
namespace {

using ntfs::State;

struct NtfsSnapshotOptions : DiskOptions {
  std::vector<std::string> states;
  std::vector<std::string> fields;
  std::string time_rules = "quiet";
  bool zone_ids = false;
  bool slack = false;
  bool journal = false;
  std::optional<u64> longest_cell;
  NamesOptions names;
  unsigned jobs = 1;

  bool array() const { return format == "json"; }
  bool has_lines() const { return format == "ndjson" || array(); }
  RowFields row_fields() const {
    RowFields chosen{fields};
    if (zone_ids) chosen.add(RowField::zone_id);
    if (journal) chosen.add(RowField::deleted_at);
    return chosen;
  }
  ntfs::StateSet wanted() const {
    ntfs::StateSet set;
    if (states.empty()) set.add(State::live);
    for (std::size_t i = 0; i < ntfs::state_count; ++i) {
      const auto state = static_cast<State>(i);
      if (std::ranges::any_of(states, [&](const std::string& name) {
            return name == "all" || name == to_string(state);
          }))
        set.add(state);
    }
    if (slack) set.add(State::slack);
    return set;
  }
};

// Rows on their way from the walk to the output.
struct Batch {
  ntfs::RowBatch rows;
  core::TextBuffer text;
  core::Findings findings;
};

// What one thread needs to turn rows into text.
struct Formatter {
  std::unique_ptr<RowFormat> format;
  std::optional<ntfs::RowHasher> hasher;
  ntfs::FileRow row;
};

// What stands before an object of the output: in an array a bracket or a comma.
void separate(Output& output, const NtfsSnapshotOptions& options, bool first) {
  if (options.array()) output.write(first ? "[" : ",");
}

void write_header(Output& output, JsonWriter& json, const NtfsSnapshotOptions& options,
                  const DiskInput& input, const ntfs::Partition& partition,
                  const ntfs::Snapshot& snapshot, const privacy::HashedNames* names, bool first) {
  separate(output, options, first);
  write_snapshot_header(json, input, partition, snapshot, names);
  for (const auto& gap : snapshot.gaps()) {
    separate(output, options, false);
    write_snapshot_gap(json, gap);
  }
}

// Has the tables read what `write` writes as lines.
template <class Write>
void add_lines(SnapshotTables& tables, Write write) {
  constexpr std::size_t longest = std::size_t{64} << 20;
  BufferPool pool;
  Output memory{longest, pool};
  JsonWriter json{memory, Int64::number};
  write(memory, json);
  std::vector<core::TextBuffer> pieces;
  memory.take(pieces);
  std::string lines;
  for (const auto& piece : pieces) lines += piece.view();
  tables.add(lines);
}

// Walks one volume; formatting is shared by the jobs.
void write_rows(const std::function<void(std::string_view)>& write,
                const NtfsSnapshotOptions& options, const VolumeName& name,
                const RowContext& context, const ntfs::Snapshot& snapshot, ntfs::Walk& walk,
                TerminalProgress& progress, core::Findings& findings) {
  const auto& records = snapshot.records();
  u64 present = 0;
  for (u64 record = 0; record < records.size(); ++record) present += records.has(record) ? 1U : 0U;
  const u64 record_size = snapshot.volume().mft().record_size();
  // Mostly a row for each record that there is.
  progress.begin("listing", "names", core::saturating_multiply(present, record_size));
  const auto fields = options.row_fields();
  const auto int64 = options.format == "sqlite" ? Int64::number : options.int64;
  std::vector<Formatter> formatters(options.jobs);
  for (auto& formatter : formatters) {
    formatter.format =
        make_row_format(options.format, fields, int64, options.longest_cell, name, context);
    if (context.names != nullptr) formatter.hasher.emplace(*context.names);
  }
  core::ordered_pipeline<Batch>(
      options.jobs, [&](Batch& batch) { return walk.next(batch.rows); },
      [&](unsigned worker, Batch& batch) {
        auto& formatter = formatters[worker];
        batch.text.clear();
        batch.findings = {};
        snapshot.fetch_ahead(batch.rows);
        for (const auto& source : batch.rows.rows) {
          snapshot.build_row(batch.rows, source, formatter.row);
          if (context.deleted != nullptr) add_deletion_finding(*context.deleted, formatter.row);
          if (formatter.hasher) formatter.hasher->hash(formatter.row);
          note_findings(formatter.row, batch.findings);
          if (source.wanted) formatter.format->write(snapshot, formatter.row, batch.text);
        }
      },
      [&](Batch& batch) {
        write(batch.text.view());
        findings.merge(batch.findings);
        progress.add(batch.rows.rows.size() * record_size, batch.rows.rows.size());
      });
  u64 left_out = 0;
  for (const auto& formatter : formatters) left_out += formatter.format->left_out();
  if (left_out > 0)
    findings.info("csv-cell", std::nullopt, "{} longer than {} {} left empty",
                  counted(left_out, "cell", "cells"),
                  counted(*options.longest_cell, "byte", "bytes"), left_out == 1 ? "is" : "are");
}

// "2 another_file, 1 not_in_use"
std::string why_stale(const ntfs::Walk& walk) {
  std::string text;
  for (std::size_t i = 0; i < ntfs::stale_reason_count; ++i) {
    const auto reason = static_cast<ntfs::StaleReason>(i);
    if (walk.count(reason) > 0)
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", walk.count(reason), to_string(reason));
  }
  return text;
}

// "12 deleted, 3 stale (3 another_file)" of the states that were not listed.
std::string left_out(const ntfs::Walk& walk, ntfs::StateSet wanted) {
  std::string text;
  for (std::size_t i = 0; i < ntfs::state_count; ++i) {
    const auto state = static_cast<State>(i);
    if (wanted.contains(state) || walk.count(state) == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", walk.count(state), to_string(state));
    if (state == State::stale) text += fmt::format(" ({})", why_stale(walk));
  }
  return text;
}

// Where rows go instead of to the output, each null where they do not, and whose names they have.
struct Destination {
  SnapshotTables* tables;
  TimeSortedRows* sorted;
  const privacy::HashedNames* names;
};

void snapshot_volume(Output& output, JsonWriter& json, const NtfsSnapshotOptions& options,
                     const DiskInput& input, const ntfs::Partition& partition,
                     const ntfs::Volume& volume, core::Findings findings, Report& report,
                     const Destination& to, SnapshotTotals& totals) {
  const auto wanted = options.wanted();
  TerminalProgress progress{options.output, options.findings.quiet};
  const auto snapshot =
      take_snapshot(volume, options.jobs, options.slack, progress, findings,
                    {.all_time_rules = options.time_rules == "all", .zone_ids = options.zone_ids});
  if (options.has_lines())
    write_header(output, json, options, input, partition, snapshot, to.names, totals.volumes == 0);
  if (to.tables != nullptr)
    add_lines(*to.tables, [&](Output& memory, JsonWriter& lines) {
      write_header(memory, lines, options, input, partition, snapshot, to.names, true);
    });
  ntfs::Walk walk{snapshot, wanted};
  const auto write = [&](std::string_view text) {
    if (to.tables != nullptr)
      to.tables->add(text);
    else if (to.sorted != nullptr)
      to.sorted->add(text);
    else
      output.write(text);
  };
  std::optional<ntfs::DeletedTimes> deleted;
  if (options.journal) deleted = read_deleted_times(volume, snapshot.records(), findings);
  write_rows(write, options, {options.image, partition, volume},
             {to.names, deleted ? &*deleted : nullptr}, snapshot, walk, progress, findings);
  findings.merge(walk.findings());

  totals.add(snapshot, walk);
  totals.findings.merge(findings);
  const auto path = volume_title(options.image, partition);
  report.read(path, findings);
  const auto rest = left_out(walk, wanted);
  if (!rest.empty() && !options.findings.quiet)
    say(fmt::format("{}: not listed: {}; --state all lists them\n", printable(path), rest));
}

// States that were asked for by name and that no row has.
void note_empty_states(const NtfsSnapshotOptions& options, const SnapshotTotals& totals,
                       core::Findings& findings) {
  core::NoMatch unmatched;
  for (std::size_t i = 0; i < ntfs::state_count; ++i) {
    const auto name = to_string(static_cast<State>(i));
    if (totals.states[i] > 0 || std::ranges::count(options.states, name) == 0) continue;
    const bool sought = static_cast<State>(i) != State::slack || options.slack;
    unmatched.add_sentence(
        sought ? fmt::format("--state: no name is {}", name)
               : "--state: names in slack were not looked for; --slack looks for them");
  }
  unmatched.report(findings);
}

void check_options(const NtfsSnapshotOptions& options) {
  if (options.longest_cell && options.format != "csv")
    throw Failure{"--cell-limit is for --format csv"};
  if (!options.fields.empty() && !options.has_lines() && options.format != "csv")
    throw Failure{"--fields is for ndjson, json and csv"};
  if (options.zone_ids && !options.has_lines() && options.format != "csv" &&
      options.format != "mftecmd-csv")
    throw Failure{"--zone-ids is for ndjson, json, csv and mftecmd-csv"};
  if (options.journal && !options.has_lines() && options.format != "csv")
    throw Failure{"--journal is for ndjson, json and csv"};
  if (options.zone_ids && options.names.hashed())
    throw Failure{"--zone-ids is for --names plain: what it reads identifies people and places"};
}

Exit run_ntfs_snapshot(const NtfsSnapshotOptions& given) {
  auto options = given;
  const auto named = RowFields{given.fields};
  options.zone_ids |= named.contains(RowField::zone_id);
  options.journal |= named.contains(RowField::deleted_at);
  check_options(options);
  const auto names = options.names.read_key();
  if (options.format == "text")
    options.output.tree_column = file_text_columns("", "", "", "").size();
  Output output{options.output};
  Report report{options.findings};
  core::Findings disk_findings;
  const auto input = open_disk(options, report, disk_findings);
  if (!input) return report.exit();
  JsonWriter json{output, options.int64};
  SnapshotTotals totals;
  std::optional<SnapshotTables> tables;
  if (options.format == "sqlite") tables.emplace();
  std::optional<TimeSortedRows> sorted;
  if (is_sorted_by_time(options.format)) sorted.emplace();
  output.write(header_of_times(options.format));
  if (options.format == "mftecmd-csv") output.write(mftecmd_header());
  if (options.format == "csv") output.write(csv_header(options.row_fields()));
  if (options.format == "text") output.write(file_text_heading());
  const Destination to{tables ? &*tables : nullptr, sorted ? &*sorted : nullptr, names.get()};
  const auto unopened = visit_volumes(
      *input, options,
      [&](const ntfs::Partition& partition, const ntfs::Volume& volume, core::Findings findings) {
        snapshot_volume(output, json, options, *input, partition, volume, std::move(findings),
                        report, to, totals);
      });
  input->file.add_findings(disk_findings);
  totals.findings.merge(unopened.report(options.image, totals.volumes > 0, report));
  if (totals.volumes == 0) {
    report.tell(options.image, disk_findings);
    return report.exit();
  }
  totals.findings.merge(disk_findings);
  core::Findings selection_findings;
  note_empty_states(options, totals, selection_findings);
  totals.findings.merge(selection_findings);
  if (!selection_findings.empty()) report.read(options.image, selection_findings);
  if (!disk_findings.empty()) report.read(options.image, disk_findings);
  if (options.has_lines()) {
    separate(output, options, false);
    write_snapshot_summary(json, totals);
    if (options.array()) output.write("]\n");
  }
  if (sorted) sorted->write_to(output);
  if (tables) {
    add_lines(*tables, [&](Output&, JsonWriter& lines) { write_snapshot_summary(lines, totals); });
    tables->write_to(output);
  }
  output.commit();
  return report.exit();
}

}  // namespace

void add_ntfs_snapshot(CLI::App& app, Exit& exit) {
  add_command<NtfsSnapshotOptions>(
      app, exit,
      {"snapshot",
       "List file metadata of NTFS volumes: names, sizes, times, attributes, locations; no "
       "contents, except for --zone-ids",
       "  coldtrace ntfs snapshot disk.img -o files.ndjson\n"
       "  coldtrace ntfs snapshot --state all --slack disk.E01\n"
       "  coldtrace ntfs snapshot --format bodyfile --partition 2 /dev/sdb | mactime -b -\n"
       "  coldtrace ntfs snapshot --mft '$MFT' --format csv --fields path,si,fn\n"
       "  coldtrace ntfs snapshot --shadow all,live disk.E01 -o files.ndjson\n"
       "  coldtrace ntfs snapshot --state all disk.img --format timesketch -o files.jsonl\n"
       "  coldtrace ntfs snapshot --state all disk.img --format timeline -o timeline.csv\n"
       "  coldtrace ntfs snapshot disk.img -o files.sqlite\n",
       "  0  every volume was read to its end\n"
       "  1  damage: something was unreadable, contradictory or lost; the rest is there. Or no "
       "name\n"
       "     is in a state that was asked for\n"
       "  2  no NTFS volume could be read\n"},
      {"ndjson", "json", "csv", "mftecmd-csv", "bodyfile", "timeline", "l2tcsv", "timesketch",
       "ecs", "sqlite", "text"},
      [](Command& command, NtfsSnapshotOptions& options) {
        add_disk_options(command, options);
        add_shadow_option(command, options.shadows);
        std::vector<std::string> states{"all"};
        for (std::size_t i = 0; i < ntfs::state_count; ++i)
          states.emplace_back(to_string(static_cast<State>(i)));
        command
            .add_option("--state", options.states,
                        "List names in these states instead of live ones; others are only counted")
            .list("STATE")
            .one_of(states);
        command
            .add_option("--fields", options.fields,
                        "Only these members of the lines, or columns; for ndjson, json and csv")
            .list("FIELD")
            .one_of(chosen_field_names());
        command.add_flag("--slack", options.slack,
                         "Also look for names in unused bytes of the directories' indexes");
        command
            .add_option("--time-rules", options.time_rules,
                        "Findings about times that may be forged (timestomp): only the 'quiet' "
                        "rules, or 'all', which also report much on healthy volumes")
            .one_of({"quiet", "all"})
            .capture_default_str();
        command.add_flag(
            "--zone-ids", options.zone_ids,
            "Also read the contents of streams named Zone.Identifier that lie in their records: "
            "the zone and the URLs a file came from; for ndjson, json, csv and mftecmd-csv. The "
            "only contents that this command reads");
        command
            .add_option("--cell-limit", options.longest_cell,
                        "csv: leave cells longer than this empty, and report how many")
            .as_size();
        command.add_flag("--journal", options.journal,
                         "Also when deleted files were deleted, according to the change journal "
                         "(deleted_at); for ndjson, json and csv");
        add_text_size_option(command, options.text);
        add_names_options(command, options.names);
        add_jobs_option(command, options, options.jobs);
        command.text_lacks([&options] {
          return !options.fields.empty() || options.zone_ids || options.journal ||
                 options.longest_cell;
        });
        command.before_sandbox([&options](SandboxNeeds& needs) {
          if (options.format == "sqlite") open_database_file(needs);
        });
      },
      run_ntfs_snapshot);
}

}  // namespace coldtrace::cli
