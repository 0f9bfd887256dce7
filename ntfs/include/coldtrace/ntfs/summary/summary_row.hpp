#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/ntfs/row.hpp"

namespace coldtrace::ntfs {

// The data of one name of a volume that a summary needs, from a row or from its line in a snapshot.
// Names and paths are exact text (coldtrace/core/utf16.hpp).
struct SummaryRow {
  struct Note {
    std::string code;
    bool warning = false;
    std::string text;
  };

  struct Stream {
    std::string name;     // empty for the unnamed one
    std::size_t extents;  // number in `extents`, after those of the preceding streams
  };

  State state = State::live;
  std::optional<u64> record;   // nothing for a stale entry whose record is lost
  std::string path;            // "/a/b", the root "/"; empty without a name
  std::string directory_path;  // "/a"; empty for a name in the root
  bool directory = false;
  bool first_of_file = false;    // it has a record, and no earlier row had the same one
  std::optional<Times> times;    // of $STANDARD_INFORMATION
  std::optional<u64> size;       // bytes of the unnamed $DATA stream, if there is one
  u64 on_disk = 0;               // of the clusters of all $DATA streams, and of data in records
  std::vector<Extent> extents;   // of all streams, those of $DATA first
  std::size_t data_extents = 0;  // of $DATA
  std::vector<Stream> streams;   // in the order of `extents`
  std::vector<Note> notes;       // findings of the name and its file

  // Adds a $DATA stream, whose extents follow. Sums on damaged volumes saturate; of several unnamed
  // streams, the first gives the size.
  void add_data(std::string name, std::optional<u64> stream_size, bool resident);
  // Clusters outside the volume use no disk space. If the cluster size is unknown, which is 0,
  // `on_disk` is only good for comparing files.
  void add_data_extent(const Extent& extent, const ClusterMap& clusters);
  // Another stream, and the extents that follow it.
  void add_stream(std::string name);
  void add_extent(const Extent& extent);
  // Extents of $DATA that are not holes.
  [[nodiscard]] u64 pieces() const;
  // Empties all.
  void clear();
};

// From a row of an image, replacing the contents of `summary`.
void to_summary_row(const FileRow& row, const ClusterMap& clusters, SummaryRow& summary);

}  // namespace coldtrace::ntfs
