#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coldtrace/ntfs/summary/summary_row.hpp"

namespace coldtrace::ntfs {

// An overview of a volume in a limited number of figures: sizes by directory, when files were made
// and changed, which are largest or in most pieces, where on the volume they lie. A file with
// several names counts once. Memory grows with directories, days and kinds of findings, up to a
// fixed number of each.
class VolumeSummary {
 public:
  static constexpr std::size_t most_directories = std::size_t{1} << 18U;
  static constexpr std::size_t places = 512;       // at most, into which the volume is divided
  static constexpr std::size_t most_kinds = 1000;  // of findings

  struct Directory {
    u32 parent;  // its index among the directories; of the root its own
    std::string name;
    u64 bytes = 0, files = 0;  // on the disk, of everything below, after finish()
  };
  struct File {
    std::string path;
    State state;
    std::optional<u64> size;  // bytes of the unnamed $DATA stream
    u64 on_disk = 0;          // bytes of its clusters, and of its contents in its record
    u64 extents = 0;
    std::optional<core::FileTime> modified;
  };
  struct StateSums {
    u64 names = 0, bytes = 0;  // on the disk
  };
  struct FindingSums {
    bool warning = false;
    u64 count = 0;
    std::string first_path, first_text;
  };
  // Clusters of one place, by owner.
  struct Place {
    u64 live = 0, deleted = 0;
  };
  // The number of each of the four $STANDARD_INFORMATION times in one day.
  using Day = std::array<u64, 4>;

  // `top` files of each kind are kept.
  VolumeSummary(u64 clusters, std::size_t top);

  void add(const SummaryRow& row);
  // To be called once, after all rows.
  void finish();

  [[nodiscard]] const std::vector<Directory>& directories() const {
    return directories_;
  }  // the root first
  [[nodiscard]] const std::array<StateSums, state_count>& states() const { return states_; }
  [[nodiscard]] const std::map<u64, Day>& days() const { return days_; }  // since 1601
  [[nodiscard]] const std::map<std::string, FindingSums>& findings() const { return findings_; }
  [[nodiscard]] u64 kinds_left_out() const { return kinds_left_out_; }  // findings of further kinds
  [[nodiscard]] u64 clusters() const { return clusters_; }
  // All of them; the last place may have fewer than the others.
  [[nodiscard]] const std::vector<Place>& map() const { return map_; }
  [[nodiscard]] u64 clusters_of_place() const { return clusters_of_place_; }

  // Those that use most of the disk, or are in most pieces, come first.
  [[nodiscard]] const std::vector<File>& largest() const { return largest_; }
  [[nodiscard]] const std::vector<File>& fragmented() const { return fragmented_; }
  [[nodiscard]] const std::vector<File>& deleted() const { return deleted_; }

 private:
  // The directory above and the name: whole paths would be as long as directories are deep.
  using DirectoryKey = std::pair<u32, std::string>;

  u32 directory_of(std::string_view path);
  void add_times(const SummaryRow& row);
  void add_places(const SummaryRow& row);
  void add_findings(const SummaryRow& row);
  void keep(std::vector<File>& files, const File& file, bool by_extents) const;

  u64 clusters_;
  u64 clusters_of_place_;
  std::size_t top_;
  std::vector<Directory> directories_{{0, "", 0, 0}};
  std::map<DirectoryKey, u32> numbers_;
  std::string last_path_;
  u32 last_directory_ = 0;
  u64 kinds_left_out_ = 0;
  std::array<StateSums, state_count> states_{};
  std::map<u64, Day> days_;
  std::map<std::string, FindingSums> findings_;
  std::vector<Place> map_;
  std::vector<File> largest_, fragmented_, deleted_;
};

// The live or deleted names of a volume, for a search: all, or above a fixed number, those whose
// files use most of the disk.
class VolumeNames {
 public:
  // For one file; if it is in more pieces, the first ones are kept.
  static constexpr std::size_t most_extents = 64;

  struct Name {
    std::string path;
    State state;
    bool directory;
    std::optional<u64> size;  // bytes, as VolumeSummary has them
    u64 on_disk;
    std::array<u64, 4> days;  // of $STANDARD_INFORMATION, since 1601: created, modified, changed,
                              // accessed; 0 where that is not set, or no time of this age
    u64 extents;              // of $DATA, without holes
    std::vector<Extent> first_extents;
  };

  explicit VolumeNames(std::size_t most) : most_{most} {}

  void add(const SummaryRow& row);
  // Sorts them by directory, then by name. To be called once, after all rows.
  void finish();

  [[nodiscard]] const std::vector<Name>& names() const { return names_; }
  // Of all names seen.
  [[nodiscard]] u64 seen() const { return seen_; }

 private:
  void keep(std::size_t count);

  std::size_t most_;
  std::vector<Name> names_;
  u64 seen_ = 0;
};

// "/Users/a" and "b" for "/Users/a/b"; the directory is empty for a name in the root.
struct SplitPath {
  std::string_view directory, name;
};
[[nodiscard]] SplitPath split_path(std::string_view path);

// Whether the file of `a` uses more of the disk than that of `b`; then by path.
[[nodiscard]] bool weighs_more(const VolumeNames::Name& a, const VolumeNames::Name& b);

}  // namespace coldtrace::ntfs
