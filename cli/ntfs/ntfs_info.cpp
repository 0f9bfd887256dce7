#include <algorithm>
#include <memory>

#include "cli/command/color_option.hpp"
#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/ntfs/image_hashes.hpp"
#include "cli/ntfs/ntfs_commands.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/ntfs/shadow_list.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_charts.hpp"
#include "coldtrace/ntfs/record_table.hpp"

namespace coldtrace::cli {
namespace {

struct NtfsInfoOptions : DiskOptions {
  NtfsInfoOptions() { lists_locked = true; }

  bool verify = false;
  std::string color;
  unsigned jobs = 1;
};

struct RecordCounts {
  u64 used = 0;  // had a head at least once
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
  for (u64 record = 0; record < records.size(); ++record) {
    if (!records.has(record)) continue;
    const auto summary = records.summary(record);
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

void write_json(Output& output, const NtfsInfoOptions& options, const DiskInput& input,
                const std::vector<ImageHash>& hashes, const std::vector<Entry>& entries,
                const core::Findings& findings) {
  JsonWriter json{output, options.int64};
  json.begin_object()
      .field("type", "info")
      .field("schema", "coldtrace.ntfs-info/1")
      .field("tool", tool_version);
  write_disk(json, input);
  write_hashes(json, hashes);
  json.key("partitions").begin_array();
  for (const auto& entry : entries) {
    json.begin_object().key("partition");
    write_partition(json, entry.partition);
    json.field("holds", name_of(entry.partition.kind));
    if (entry.volume) {
      write_volume(json, *entry.volume);
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
    write_shadow_list(json, entry.shadows ? &*entry.shadows : nullptr);
    const auto bitlocker = input.bitlocker.find(entry.partition.offset);
    write_bitlocker(json, bitlocker == input.bitlocker.end() ? nullptr : &bitlocker->second);
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

// "2.0 MiB (2,097,664 bytes)"
std::string exact_size_text(u64 bytes) {
  return bytes < 1024 ? size_text(bytes)
                      : fmt::format("{} ({} bytes)", size_text(bytes), grouped(bytes));
}

void write_volume_text(Output& output, const TextCharts& charts, const Entry& entry) {
  const auto& volume = *entry.volume;
  const auto& information = volume.information();
  const auto& mft = volume.mft();
  if (information)
    print(output, "  NTFS {}.{}, label '{}', {}\n", information->major_version,
          information->minor_version, printable(information->label),
          information->dirty() ? "dirty" : "clean");
  const auto& boot = volume.boot();
  if (boot && boot->inferred)
    print(output, "  no boot sector: {} of {}, records of {}, as $MFT says\n",
          counted(boot->clusters, "cluster", "clusters"), size_text(boot->cluster_size),
          size_text(boot->record_size));
  else if (boot)
    print(output, "  serial number {:016x}, sectors of {}, {} of {}, records of {}\n",
          boot->serial_number, size_text(boot->bytes_per_sector),
          counted(boot->clusters, "cluster", "clusters"), size_text(boot->cluster_size),
          size_text(boot->record_size));
  const auto& counts = entry.counts;
  print(output, "  {} of {} in use: {}, {}; {} ever used\n", grouped(counts.in_use),
        counted(mft.record_count(), "record", "records"),
        counted(counts.directories, "directory", "directories"),
        counted(counts.extensions, "extension", "extensions"), grouped(counts.used));
  if (charts.shown()) write_mft_charts(output, charts, entry);
  if (mft.extracted()) return;
  print(output, "  $MFT in {}:\n", counted(mft.extents().size(), "extent", "extents"));
  for (const auto& extent : mft.extents()) {
    const auto offset = extent.lcn ? mft.clusters().offset_of(*extent.lcn) : std::nullopt;
    if (offset) {
      print(output, "    VCN {:>10}  LCN {:>12}  {:>10} clusters  at {:#x}\n", extent.vcn,
            static_cast<u64>(*extent.lcn), extent.clusters, *offset);
    } else {
      print(output, "    VCN {:>10}  nowhere            {:>10} clusters\n", extent.vcn,
            extent.clusters);
    }
  }
}

void write_text(Output& output, const NtfsInfoOptions& options, const TextCharts& charts,
                const DiskInput& input, const std::vector<ImageHash>& hashes,
                const std::vector<Entry>& entries) {
  print(output, "{}: {} image of {}, {}\n", printable(options.image), input.file.container,
        exact_size_text(input.file.source->size()),
        input.disk.kind == ntfs::DiskKind::volume
            ? std::string{"one volume"}
            : fmt::format("{} with {}, sectors of {}", to_string(input.disk.kind),
                          counted(input.disk.partitions.size(), "partition", "partitions"),
                          size_text(input.disk.sector_size)));
  for (const auto& hash : hashes) output.write(hash_text(hash));
  for (const auto& entry : entries) {
    const auto& partition = entry.partition;
    print(output, "{:>3}  at {:#x}, {}, type {}{}: {}\n", partition.number, partition.offset,
          exact_size_text(partition.size), partition.type.empty() ? "-" : partition.type,
          partition.name.empty() ? "" : " '" + printable(partition.name) + "'",
          input.is_mft ? "a $MFT" : to_string(partition.kind));
    if (charts.shown() && input.disk.kind != ntfs::DiskKind::volume) {
      ChartSteps place{0, static_cast<double>(input.file.source->size()), chart_width(charts)};
      const auto from = static_cast<double>(partition.offset);
      const auto size = static_cast<double>(partition.size);
      place.add(from, from + size, size);
      print(output, "  place on disk   {}\n", charts.strip(place.amounts(), place.width()));
    }
    if (const auto bitlocker = input.bitlocker.find(partition.offset);
        bitlocker != input.bitlocker.end())
      write_bitlocker_text(output, bitlocker->second);
    if (entry.volume) write_volume_text(output, charts, entry);
    if (entry.shadows) write_shadow_text(output, *entry.shadows);
  }
}

Exit run_ntfs_info(const NtfsInfoOptions& options) {
  Output output{options.output};
  Report report{options.findings};
  core::Findings findings;
  UnopenedVolumes unopened;
  auto input = open_disk(options, report, findings);
  if (!input) return report.exit();
  auto hashes = stored_hashes(input->file);
  if (options.verify) {
    TerminalProgress progress{options.output, options.findings.quiet};
    progress.begin("verifying", "", input->file.source->size());
    verify_hashes(*input->stored, hashes, progress.hook(), findings);
  }
  const TextCharts charts{options.output, options.color};
  std::vector<Entry> entries;
  bool any = input->chosen.empty();  // of volumes that are all locked
  const bool all = !options.partition && !options.offset && !options.mft_offset && !input->is_mft;
  for (const auto& partition : all ? input->disk.partitions : input->chosen) {
    auto& entry = entries.emplace_back(Entry{partition, std::nullopt, {}, std::nullopt});
    const bool chosen = std::ranges::any_of(input->chosen, [&](const ntfs::Partition& other) {
      return other.number == partition.number;
    });
    if (!chosen) continue;
    auto volume = open_volume(*input, *input->file.source, partition, options, findings);
    if (!volume) {
      unopened.add(partition, volume_failure(*input, partition, volume.error()));
      continue;
    }
    entry.volume = std::move(*volume);
    entry.counts = count_records(*entry.volume, options.jobs, chart_width(charts), findings);
    any = true;
    if (input->is_mft) continue;
    if (auto shadows = ntfs::ShadowCopies::read(*input->file.source,
                                                {partition.offset, partition.size}, findings))
      entry.shadows.emplace(std::move(*shadows));
  }
  input->file.add_findings(findings);
  const auto unopened_findings = unopened.report(options.image, any, report);
  if (!any) {
    report.tell(options.image, findings);
    return report.exit();
  }
  report.read(options.image, findings);
  findings.merge(unopened_findings);
  if (options.format == "json") {
    write_json(output, options, *input, hashes, entries, findings);
  } else {
    write_text(output, options, charts, *input, hashes, entries);
  }
  output.commit();
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
       "  coldtrace ntfs info --format json /dev/sdb\n",
       "  0  every NTFS volume could be opened\n"
       "  1  damage was found, or a hash that the image states is not that of its bytes\n"
       "  2  there is no NTFS volume, or the image cannot be read\n"},
      {"text", "json"},
      [](Command& command, NtfsInfoOptions& options) {
        add_disk_options(command, options);
        command.add_flag("--verify", options.verify,
                         "Read the whole disk and verify it against the hashes in the E01 image");
        add_jobs_option(command, options, options.jobs);
        add_color_option(command, options.color);
      },
      run_ntfs_info);
}

}  // namespace coldtrace::cli
