#pragma once

#include <array>
#include <functional>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/cluster_owners.hpp"
#include "coldtrace/ntfs/directory_table.hpp"
#include "coldtrace/ntfs/record_table.hpp"
#include "coldtrace/ntfs/row.hpp"
#include "coldtrace/ntfs/security.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// Which rows a walk yields.
class StateSet {
 public:
  constexpr StateSet() = default;
  constexpr StateSet(std::initializer_list<State> states) {
    for (const auto state : states) add(state);
  }
  constexpr void add(State state) { bits_ |= 1U << static_cast<unsigned>(state); }
  [[nodiscard]] constexpr bool contains(State state) const {
    return (bits_ >> static_cast<unsigned>(state) & 1) != 0;
  }

 private:
  unsigned bits_ = 0;
};

constexpr u64 largest_value = u64{64} * 1024;  // of metadata read outside its record

// The metadata of all files of a volume, read in two passes: $MFT from start to end, then the
// indexes of all directories in disk order. Memory grows with the number of records.
class Snapshot {
 public:
  enum class Pass : u8 { records, indexes };
  // Contents of rows that are only included on request.
  struct RowOptions {
    bool all_time_rules = false;  // findings that are frequent on healthy volumes too
    bool zone_ids = false;        // contents: those of resident streams "Zone.Identifier"
  };
  struct Options {
    unsigned jobs = 1;
    bool slack = false;
    RowOptions rows = {};
    // `progress` is given the amount that a pass reads, and is called with bytes and records or
    // buffers; it may be null.
    std::function<core::Progress*(Pass pass, u64 bytes)> begin = {};
  };

  // `volume` must outlive the snapshot.
  [[nodiscard]] static Snapshot take(core::Borrowed<Volume> borrowed, Options options,
                                     core::Findings& findings);

  [[nodiscard]] const Volume& volume() const { return volume_; }
  [[nodiscard]] const RecordTable& records() const { return records_; }
  [[nodiscard]] const DirectoryTable& directories() const { return directories_; }
  [[nodiscard]] const std::vector<Gap>& gaps() const { return gaps_; }

  // Loads the records of a batch whose rows are built next, so that the waits for memory overlap.
  void fetch_ahead(const RowBatch& batch) const;

  // Fills `row` for one row of a batch, or only `parts` of it: other members are unspecified. Safe
  // to call from several threads, each with its own row.
  void build_row(const RowBatch& batch, const RowSource& source, FileRow& row,
                 RowParts parts = RowParts::all) const;

  [[nodiscard]] u64 memory() const { return records_.memory() + directories_.memory(); }  // bytes

 private:
  Snapshot(const Volume& volume, RecordTable records, DirectoryTable directories)
      : volume_{volume}, records_{std::move(records)}, directories_{std::move(directories)} {}

  void load_file(const RowSource& source, FileRow& row) const;
  bool load_head(const RowSource& source, FileRow& row) const;
  void add_head(const RowBatch& batch, const RowSource& source, FileRow& row) const;
  void add_streams(FileRow& row) const;
  void find_owner_of(FileRow& row) const;
  void find_reparse_point(FileRow& row) const;
  void find_extended_attributes(FileRow& row) const;
  void find_zone_id(FileRow& row) const;
  std::optional<std::vector<std::byte>> read_value(const AttributeFacts& attribute,
                                                   const RecordFacts& facts) const;

  const Volume& volume_;
  RowOptions row_options_;
  RecordTable records_;
  DirectoryTable directories_;
  SecurityOwners owners_;
  ClusterOwners clusters_;
  std::vector<Gap> gaps_;
};

}  // namespace coldtrace::ntfs
