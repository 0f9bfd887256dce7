#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/ntfs/row.hpp"

namespace coldtrace::ntfs {

// What a summary asks of one name of a volume, whoever read it: a row, or the line that a snapshot
// has of it.
struct SummaryRow {
  struct Note {
    std::string code;
    bool warning = false;
    std::string text;
  };

  struct Stream {
    std::string name;     // empty of the unnamed one
    std::size_t extents;  // of `extents`, behind those of the streams before
  };

  State state = State::live;
  std::optional<u64> record;   // nothing of a stale entry whose record is lost
  std::string path;            // "/a/b", the root "/"; empty without a name
  std::string directory_path;  // "/a"; of what lies in the root empty
  bool directory = false;
  bool first_of_file = false;  // it has a record, and no row before it was of the same
  std::optional<Times> times;  // of $STANDARD_INFORMATION
  u64 size = 0, on_disk = 0;   // bytes of the $DATA streams, and of their clusters and what lies in
                               // records
  std::vector<Extent> extents;   // of all streams, those of $DATA first
  std::size_t data_extents = 0;  // of $DATA
  std::vector<Stream> streams;   // in the order of `extents`
  std::vector<Note> notes;       // findings of the name and its file

  // Adds a $DATA stream, whose extents follow. Sums of damaged volumes stay the largest number.
  void add_data(std::string name, std::optional<u64> stream_size, bool resident);
  // Clusters outside the volume take nothing of the disk. Where the size of clusters is 0, as it is
  // not known, `on_disk` serves to compare files only.
  void add_data_extent(const Extent& extent, const ClusterMap& clusters);
  // Another stream, and those that follow it.
  void add_stream(std::string name);
  void add_extent(const Extent& extent);
  // Extents of $DATA that are not holes.
  [[nodiscard]] u64 pieces() const;
  // Empties all.
  void clear();
};

// Of a row of an image, in place of what `summary` was.
void to_summary_row(const FileRow& row, const ClusterMap& clusters, SummaryRow& summary);

}  // namespace coldtrace::ntfs
