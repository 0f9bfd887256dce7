#include <algorithm>
#include <memory>

#include "cli/command/color_option.hpp"
#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/layout/wrapped_line.hpp"
#include "cli/ntfs/image_hashes_output.hpp"
#include "cli/ntfs/ntfs_commands.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/ntfs/shadow_list.hpp"
#include "cli/ntfs/snapshot_info.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_charts.hpp"
#include "cli/output/text_size.hpp"
#include "cli/privacy/names_option.hpp"
#include "coldtrace/ntfs/record_table.hpp"

namespace coldtrace::cli {
namespace {

struct NtfsInfoOptions : DiskOptions {
  NtfsInfoOptions() {
    lists_locked = true;
    takes_snapshots = true;
  }

  bool verify = false;
  std::string color;
  NamesOptions names;
  unsigned jobs = 1;
};

struct RecordCounts {
  u64 used = 0;  // were a file's at least once
  u64 in_use = 0;
  u64 directories = 0;
  u64 extensions = 0;
  std::vector<double> in_use_along;  // $MFT, in equal steps: of the records there, how many
};

// What is known of one partition.
struct Entry {
  ntfs::Partition partition;
  std::optional<ntfs::Volume> volume;
  RecordCounts counts;
  std::optional<ntfs::ShadowCopies> shadows;
};

// What the terminal has beside the labels.
std::size_t chart_width(const TextCharts& charts) {
  constexpr std::size_t label = 18, least = 20, most = 80;
  return std::clamp(charts.columns() - std::min(charts.columns(), label), least, most);
}

RecordCounts count_records(const ntfs::Volume& volume, unsigned jobs, std::size_t steps,
                           core::Findings& findings) {
  std::vector<ntfs::Gap> gaps;
  const auto records = ntfs::RecordTable::scan(volume.image(), volume.mft(), jobs, findings, gaps);
  RecordCounts counts;
  ChartSteps in_use{0, static_cast<double>(records.size()), steps};
  ntfs::RecordFacts facts;
  for (u64 record = 0; record < records.size(); ++record) {
    if (!records.has(record)) continue;
    const auto summary = records.summary(record);
    if (!summary.in_use && !summary.extension) {
      records.assemble(record, facts);
      if (ntfs::was_never_used(facts)) continue;
    }
    ++counts.used;
    if (summary.in_use) {
      ++counts.in_use;
      in_use.add(static_cast<double>(record), static_cast<double>(record + 1), 1);
    }
    if (summary.in_use && summary.directory && !summary.extension) ++counts.directories;
    if (summary.extension) ++counts.extensions;
  }
  counts.in_use_along = in_use.amounts();
  return counts;
}

void begin_json(JsonWriter& json, const privacy::HashedNames* names) {
  json.begin_object()
      .field("type", "info")
      .field("schema", "coldtrace.ntfs-info/1")
      .field("tool", tool_version);
  write_names_member(json, names);
}

void write_json(Output& output, const NtfsInfoOptions& options, const DiskInput& input,
                const std::vector<ntfs::ImageHash>& hashes, const std::vector<Entry>& entries,
                const core::Findings& findings, const privacy::HashedNames* names) {
  JsonWriter json{output, options.int64};
  begin_json(json, names);
  write_disk(json, input);
  write_hashes(json, hashes);
  json.key("partitions").begin_array();
  for (const auto& entry : entries) {
    json.begin_object().key("partition");
    write_partition(json, entry.partition, names == nullptr);
    json.field("holds", name_of(entry.partition.kind));
    if (entry.volume) {
      write_volume(json, *entry.volume, names == nullptr);
      json.key("counts")
          .begin_object()
          .field("used", entry.counts.used)
          .field("in_use", entry.counts.in_use)
          .field("directories", entry.counts.directories)
          .field("extensions", entry.counts.extensions)
          .end_object();
    } else {
      json.field("volume", nullptr).field("counts", nullptr);
    }
    write_shadow_list(json, entry.shadows ? &*entry.shadows : nullptr, names == nullptr);
    const auto bitlocker = input.bitlocker.find(entry.partition.offset);
    write_bitlocker(json, bitlocker == input.bitlocker.end() ? nullptr : &bitlocker->second,
                    names == nullptr);
    json.end_object();
  }
  json.end_array().key("findings");
  write_findings(json, findings);
  json.end_object();
  json.end_document();
}

// Which records are in use, and where on the volume $MFT lies.
void write_mft_charts(Output& output, const TextCharts& charts, const Entry& entry) {
  const auto& mft = entry.volume->mft();
  print(output, "  records in use  {}\n",
        charts.sparkline(entry.counts.in_use_along, static_cast<double>(mft.record_count()) /
                                                        static_cast<double>(chart_width(charts))));
  const auto& boot = entry.volume->boot();
  if (mft.extracted() || !boot || boot->clusters == 0) return;
  ChartSteps place{0, static_cast<double>(boot->clusters), chart_width(charts)};
  for (const auto& extent : mft.extents()) {
    if (!extent.lcn) continue;
    const auto from = static_cast<double>(static_cast<u64>(*extent.lcn));
    const auto clusters = static_cast<double>(extent.clusters);
    place.add(from, from + clusters, clusters);
  }
  print(output, "  $MFT on volume  {}\n", charts.strip(place.amounts(), place.width()));
}

void write_volume_text(Output& output, const TextCharts& charts, const Entry& entry, bool named) {
  const auto& volume = *entry.volume;
  const auto& information = volume.information();
  const auto& mft = volume.mft();
  if (information)
    print(output, "  NTFS {}.{}{}, {}\n", information->major_version, information->minor_version,
          named ? fmt::format(", label '{}'", printable(information->label)) : std::string{},
          information->dirty() ? "dirty" : "clean");
  const auto& boot = volume.boot();
  if (boot && boot->inferred)
    print(output, "  no boot sector: {} of {}, records of {}, according to $MFT\n",
          counted(boot->clusters, "cluster", "clusters"), size_text(boot->cluster_size),
          size_text(boot->record_size));
  else if (boot)
    write_wrapped(output,
                  fmt::format("  serial number {:016x}, sectors of {}, {} of {}, records of {}",
                              boot->serial_number, size_text(boot->bytes_per_sector),
                              counted(boot->clusters, "cluster", "clusters"),
                              size_text(boot->cluster_size), size_text(boot->record_size)),
                  4);
  const auto& counts = entry.counts;
  write_wrapped(
      output,
      fmt::format("  {} of {} in use: {}, {}; {} ever used", grouped(counts.in_use),
                  counted(mft.record_count(), "record", "records"),
                  counted(counts.directories, "directory", "directories"),
                  counted(counts.extensions, "extension", "extensions"), grouped(counts.used)),
      4);
  if (charts.shown()) write_mft_charts(output, charts, entry);
  if (mft.extracted()) return;
  print(output, "  $MFT in {}:\n", counted(mft.extents().size(), "extent", "extents"));
  for (const auto& extent : mft.extents()) {
    const auto offset = extent.lcn ? mft.clusters().offset_of(*extent.lcn) : std::nullopt;
    if (offset) {
      print(output, "    VCN {:>10}  LCN {:>12}  {:>10} clusters  at {:#x}\n", extent.vcn,
            static_cast<u64>(*extent.lcn), grouped(extent.clusters), *offset);
    } else {
      print(output, "    VCN {:>10}  nowhere            {:>10} clusters\n", extent.vcn,
            grouped(extent.clusters));
    }
  }
}

void write_text(Output& output, const NtfsInfoOptions& options, const TextCharts& charts,
                const DiskInput& input, const std::vector<ntfs::ImageHash>& hashes,
                const std::vector<Entry>& entries, bool named) {
  write_wrapped(
      output,
      fmt::format(
          "{}: {} image of {}, {}", printable(options.image), input.file.container,
          exact_size_text(input.file.source->size()),
          input.disk.kind == ntfs::DiskKind::volume
              ? std::string{"one volume"}
              : fmt::format("{} with {}, sectors of {}",
                            input.disk.kind == ntfs::DiskKind::lost ? "no partition table, disk"
                                                                    : to_string(input.disk.kind),
                            counted(input.disk.partitions.size(), "partition", "partitions"),
                            size_text(input.disk.sector_size))),
      4);
  for (const auto& hash : hashes) output.write(hash_text(hash));
  for (const auto& entry : entries) {
    const auto& partition = entry.partition;
    write_wrapped(
        output,
        fmt::format("{:>3}  at {:#x}, {}, type {}{}: {}", partition.number, partition.offset,
                    exact_size_text(partition.size), partition.type.empty() ? "-" : partition.type,
                    !named || partition.name.empty() ? "" : " '" + printable(partition.name) + "'",
                    to_string(partition.kind)),
        4);
    if (charts.shown() && input.disk.kind != ntfs::DiskKind::volume) {
      ChartSteps place{0, static_cast<double>(input.file.source->size()), chart_width(charts)};
      const auto from = static_cast<double>(partition.offset);
      const auto size = static_cast<double>(partition.size);
      place.add(from, from + size, size);
      print(output, "  place on disk   {}\n", charts.strip(place.amounts(), place.width()));
    }
    if (const auto bitlocker = input.bitlocker.find(partition.offset);
        bitlocker != input.bitlocker.end())
      write_bitlocker_text(output, bitlocker->second, named);
    if (entry.volume) write_volume_text(output, charts, entry, named);
    if (entry.shadows) write_shadow_text(output, *entry.shadows);
  }
}

bool show_image(const NtfsInfoOptions& options, GivenFile given, core::Findings findings,
                const privacy::HashedNames* names, Output& output, Report& report) {
  UnopenedVolumes unopened;
  auto file = open_given_image(options, std::move(given), findings, report);
  if (!file) return false;
  auto input = find_volumes(options, std::move(*file), findings, report);
  if (!input) return false;
  auto hashes = ntfs::stored_hashes(input->file, findings);
  if (options.verify) {
    TerminalProgress progress{options.output, options.findings.quiet};
    progress.begin("verifying", "", input->file.source->size());
    ntfs::verify_hashes(*input->stored, hashes, progress.hook(), findings);
  }
  const TextCharts charts{options.output, options.color};
  std::vector<Entry> entries;
  bool any = input->chosen.empty();  // of volumes that are all locked
  const auto choice = options.choice();
  const bool all = !choice.locates() && !input->is_mft;
  for (const auto& partition : all ? input->disk.partitions : input->chosen) {
    auto& entry = entries.emplace_back(Entry{partition, std::nullopt, {}, std::nullopt});
    const bool chosen = std::ranges::any_of(input->chosen, [&](const ntfs::Partition& other) {
      return other.number == partition.number;
    });
    if (!chosen) continue;
    auto volume = ntfs::open_volume(*input, *input->file.source, partition, choice, findings);
    if (!volume) {
      unopened.add(partition, volume_failure(*input, partition, volume.error()));
      continue;
    }
    entry.volume = std::move(*volume);
    entry.counts = count_records(*entry.volume, options.jobs, chart_width(charts), findings);
    any = true;
    if (input->is_mft) continue;
    if (auto shadows = ntfs::ShadowCopies::read(*input->file.source,
                                                ntfs::place_of(partition, *entry.volume), findings))
      entry.shadows.emplace(std::move(*shadows));
  }
  input->file.add_findings(findings);
  const auto unopened_findings = unopened.report(options.image, any, report);
  if (!any) {
    report.tell(options.image, findings);
    return false;
  }
  report.read(options.image, findings);
  findings.merge(unopened_findings);
  if (options.format == "json") {
    write_json(output, options, *input, hashes, entries, findings, names);
  } else {
    write_text(output, options, charts, *input, hashes, entries, names == nullptr);
  }
  return true;
}

bool show_snapshot(const NtfsInfoOptions& options, const GivenFile& given, core::Findings findings,
                   Output& output, Report& report) {
  if (options.verify || options.names.hashed())
    throw Failure{"--verify and --names keyed-hash are for images, and this is a snapshot"};
  refuse_options_of_images(options);
  const auto info = read_snapshot_info(*given.bytes, options.partition, options.int64, findings);
  if (!info) {
    report.failed(options.image, info.error());
    return false;
  }
  if (info->volumes.empty()) {
    report.failed(options.image, fmt::format("the snapshot has no volume of partition {}",
                                             options.partition.value_or(0)));
    return false;
  }
  report.read(options.image, findings);
  if (options.format == "text") {
    write_snapshot_info_text(output, options.image, *info);
    return true;
  }
  JsonWriter json{output, options.int64};
  begin_json(json, nullptr);
  write_snapshot_info_json(json, *info);
  json.key("findings");
  write_findings(json, findings);
  json.end_object();
  json.end_document();
  return true;
}

Exit run_ntfs_info(const NtfsInfoOptions& options) {
  const auto names = options.names.read_key();
  Output output{options.output};
  Report report{options.findings};
  core::Findings findings;
  auto given = open_given(options, findings, report);
  if (!given) return report.exit();
  const bool shown = given->is_snapshot()
                         ? show_snapshot(options, *given, std::move(findings), output, report)
                         : show_image(options, std::move(*given), std::move(findings), names.get(),
                                      output, report);
  if (shown) output.commit();
  return report.exit();
}

}  // namespace

void add_ntfs_info(CLI::App& app, Exit& exit) {
  add_command<NtfsInfoOptions>(
      app, exit,
      {"info",
       "List the partitions of a disk image, the geometry of its NTFS volumes and their shadow "
       "copies",
       "  coldtrace ntfs info disk.img\n"
       "  coldtrace ntfs info --verify disk.E01\n"
       "  coldtrace ntfs info --format json /dev/sdb\n"
       "  coldtrace ntfs info files.ndjson.zst\n",
       "  0  every NTFS volume could be opened\n"
       "  1  damage was found, or a hash stored in the image does not match its bytes\n"
       "  2  there is no NTFS volume, or the input cannot be read\n"},
      {"text", "json"},
      [](Command& command, NtfsInfoOptions& options) {
        add_disk_options(command, options);
        command.add_flag("--verify", options.verify,
                         "Read the whole disk and verify it against the hashes in the E01 image");
        add_jobs_option(command, options, options.jobs);
        add_color_option(command, options.color);
        add_text_time_options(command, options.text);
        add_names_options(command, options.names);
      },
      run_ntfs_info);
}

}  // namespace coldtrace::cli
