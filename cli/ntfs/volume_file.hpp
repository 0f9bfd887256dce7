#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/ntfs/ntfs_input.hpp"
#include "cli/ntfs/visited_volumes.hpp"
#include "cli/privacy/names_option.hpp"

namespace coldtrace::cli {

// Options of the commands about one file of a volume, or a copy of it.
struct VolumeFileOptions : DiskOptions {
  bool copied = false;
  std::string mft;  // --mft-file: the $MFT of the volume of a copy
  NamesOptions names;
  unsigned jobs = 1;

  bool has_lines() const { return format == "ndjson" || format == "json"; }
};

// The file's names in messages: "$J", "journal", "a change journal".
struct VolumeFileNames {
  std::string_view copy;
  std::string_view brief;
  std::string_view one;
};

// The source of such a file; a copy has no volume.
struct VolumeFileSource {
  const DiskInput* input = nullptr;
  const ntfs::Partition* partition = nullptr;
  const ntfs::Volume* volume = nullptr;
};
// The members `disk`, `partition` and `volume` of a header, null for a copy. Without the
// partition's name and the volume's label if `named` is false.
void write_source(JsonWriter& json, const VolumeFileSource& source, bool named = true);

// All options but `names` and `jobs`.
void add_volume_file_options(Command& command, VolumeFileOptions& options);

// Passes the $MFT of --mft-file to `use`. False, and a report, if it cannot be used.
bool use_mft_file(const VolumeFileOptions& options, Report& report,
                  const std::function<void(const ntfs::Volume&, core::Findings&)>& use);

// For a whole image: throws if an option for copies was given.
void refuse_mft_file(const VolumeFileOptions& options, const VolumeFileNames& names);

// Writes the file of each volume of an image with a Writer{options, output}, which has count(), the
// number of files, and finish(findings). `write_volume` gets (writer, input, partition, volume,
// findings) and returns whether the volume has the file.
template <typename Writer, typename Options, typename WriteVolume>
Exit write_volume_files(const Options& options, const VolumeFileNames& names, ntfs::ImageFile file,
                        core::Findings of_disk, Report& report, WriteVolume write_volume) {
  refuse_mft_file(options, names);
  Output output{options.output};
  const auto input = find_volumes(options, std::move(file), of_disk, report);
  if (!input) return report.exit();
  if (input->is_mft) {
    report.failed(options.image,
                  fmt::format("it is a $MFT, which has no {}; give it with --mft-file beside a {}",
                              names.brief, names.copy));
    return report.exit();
  }
  Writer writer{options, output};
  core::Findings findings;
  bool any = false;
  const auto unopened = visit_volumes(
      *input, options,
      [&](const ntfs::Partition& partition, const ntfs::Volume& volume, core::Findings of_volume) {
        any = true;
        const auto title = volume_title(options.image, partition);
        if (write_volume(writer, *input, partition, volume, of_volume))
          report.read(title, of_volume);
        else
          report.tell(title, of_volume);
        findings.merge(of_volume);
      });
  input->file.add_findings(of_disk);
  findings.merge(unopened.report(options.image, any, report));
  if (writer.count() == 0) {
    report.tell(options.image, of_disk);
    if (any) report.failed(options.image, fmt::format("none of its volumes has {}", names.one));
    return report.exit();
  }
  report.read(options.image, of_disk);
  findings.merge(of_disk);
  writer.finish(findings);
  output.commit();
  return report.exit();
}

}  // namespace coldtrace::cli
