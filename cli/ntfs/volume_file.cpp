#include "cli/ntfs/volume_file.hpp"

#include "cli/images/other_kind.hpp"
#include "cli/ntfs/shadow_option.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {

void write_source(JsonWriter& json, const VolumeFileSource& source, bool named) {
  if (source.volume == nullptr) {
    json.field("disk", nullptr).field("partition", nullptr).field("volume", nullptr);
    return;
  }
  write_disk(json, *source.input);
  json.key("partition");
  write_partition(json, *source.partition, named);
  write_volume(json, *source.volume, named);
}

void add_volume_file_options(Command& command, VolumeFileOptions& options) {
  add_volume_options(command, options);
  add_shadow_option(command, options.shadows);
  command.add_flag(
      "--copied", options.copied,
      "IMAGE is the copied stream alone ($J, $LogFile), even if it does not start like one");
  command
      .add_input("--mft-file", options.mft,
                 "The $MFT of the volume that a copied $J or $LogFile came from, for paths")
      .type_name("FILE");
}

bool use_mft_file(const VolumeFileOptions& options, Report& report,
                  const std::function<void(const ntfs::Volume&, core::Findings&)>& use) {
  core::Findings findings;
  const auto file = ntfs::open_image(options.mft, findings);
  if (!file) {
    report.failed(options.mft, to_message(file.error()));
    return false;
  }
  const auto volume = ntfs::Volume::open_extracted_mft(*file->source, findings);
  if (!volume) {
    report.failed(options.mft, describe_other(file->kind, "a $MFT"));
    return false;
  }
  use(*volume, findings);
  file->add_findings(findings);
  report.read(options.mft, findings);
  return true;
}

void refuse_mft_file(const VolumeFileOptions& options, const VolumeFileNames& names) {
  if (!options.mft.empty())
    throw Failure{fmt::format(
        "--mft-file is for a {} that was copied out; an image has its own $MFT", names.copy)};
}

}  // namespace coldtrace::cli
