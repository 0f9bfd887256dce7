#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/common_options.hpp"
#include "cli/ntfs/bitlocker_keys.hpp"
#include "cli/ntfs/bitlocker_volumes.hpp"
#include "cli/ntfs/given_file.hpp"
#include "coldtrace/ntfs/disk/image_file.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/opening/image_volumes.hpp"
#include "coldtrace/ntfs/shadow/shadow_choice.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::cli {

// Options of the commands that read disk images.
struct DiskOptions : CommonOptions {
  std::string image;
  std::vector<std::string> parents;
  bool parents_may_be_of_another = false;  // the parents may be those of another input
  bool takes_snapshots = false;            // as IMAGE too
  ntfs::BitLockerKeyFiles bitlocker;
  std::optional<u32> partition;
  std::optional<u64> offset;
  bool mft_only = false;
  std::optional<u64> mft_offset;
  std::optional<u64> cluster_size;
  std::optional<u64> unpacked_limit;
  std::vector<std::string> shadows;  // numbers, "all", "live"
  bool lists_locked = false;         // an image with only locked volumes is listed, not refused

  ntfs::VolumeChoice choice() const;
  bool locates_volume() const { return choice().locates(); }
};

// Tells the sandbox that images may have parts, and that virtual disks are read by a process of
// their own.
void leave_image_readers(Command& command);

// IMAGE, --parent, --partition, --offset, --mft-offset, --cluster-size, --unpacked-limit and the
// options for BitLocker keys.
void add_volume_options(Command& command, DiskOptions& options);
// The same for a command that reads an image besides other inputs: it is the value of --image,
// which the other options and --shadow require.
void add_image_option(Command& command, DiskOptions& options, const char* help);
// IMAGE, its options and --mft.
void add_disk_options(Command& command, DiskOptions& options);

// Throws if an option for images was given with a snapshot.
void refuse_options_of_images(const DiskOptions& options);

// An opened image and its volumes.
struct DiskInput : ntfs::ImageVolumes {
  // The volumes that the options select; by default every NTFS volume in its current state.
  std::vector<ntfs::Partition> chosen;
  // By the start of the volume, if the options ask for shadow copies.
  ntfs::ShadowsOfVolumes shadows;
};

// Opens IMAGE as open_given() does; a failure is added to `report`.
std::optional<GivenFile> open_given(const DiskOptions& options, core::Findings& findings,
                                    Report& report);
// The same for the contents of a pipe that was read already.
std::optional<GivenFile> take_piped(std::unique_ptr<core::ImageSource> bytes,
                                    const DiskOptions& options, core::Findings& findings,
                                    Report& report);
// The given image; a finding says if it was packed or came from a pipe.
std::optional<ntfs::ImageFile> open_given_image(const DiskOptions& options, GivenFile given,
                                                core::Findings& findings, Report& report);
// Finds the volumes of an image.
std::optional<DiskInput> find_volumes(const DiskOptions& options, ntfs::ImageFile file,
                                      core::Findings& findings, Report& report);
// All of these steps.
std::optional<DiskInput> open_disk(const DiskOptions& options, Report& report,
                                   core::Findings& findings);

// Why a volume could not be opened: what is there instead, if known.
std::string volume_failure(const DiskInput& input, const ntfs::Partition& partition,
                           const core::ParseError& error);

// Volumes that could not be opened.
class UnopenedVolumes {
 public:
  void add(const ntfs::Partition& partition, std::string why);
  // Adds those of a second visit that the first one could open.
  void add(const UnopenedVolumes& again);
  // Reports why: as findings, which it returns, or as a failure if nothing else could be opened.
  core::Findings report(std::string_view image, bool others_opened, Report& report) const;

 private:
  struct Volume {
    u64 offset;
    std::string why;
    bool operator==(const Volume&) const = default;
  };
  std::vector<Volume> volumes_;
};

// The members "disk", "partition" and "volume" of a header line.
void write_disk(JsonWriter& json, const DiskInput& input);
// Without the partition's name and the volume's label if `named` is false.
void write_partition(JsonWriter& json, const ntfs::Partition& partition, bool named = true);
void write_volume(JsonWriter& json, const ntfs::Volume& volume, bool named = true);

}  // namespace coldtrace::cli
