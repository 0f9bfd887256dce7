#pragma once

#include <array>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/path_chain.hpp"
#include "coldtrace/ntfs/snapshot.hpp"
#include "coldtrace/ntfs/stale_reason.hpp"
#include "coldtrace/ntfs/structures/index_order.hpp"

namespace coldtrace::ntfs {

// The rows of a snapshot: what is live, depth-first from the root in index order, then what the
// directories do not reach, by record number, then names in slack.
class Walk {
 public:
  Walk(core::Borrowed<Snapshot> snapshot, StateSet states);

  // Fills a batch with the next rows; false if there are none. Rows of all states are included, so
  // that their problems are known; those of states that were not requested are marked.
  bool next(RowBatch& batch);

  [[nodiscard]] u64 count(State state) const { return counts_[static_cast<std::size_t>(state)]; }
  [[nodiscard]] u64 count(StaleReason reason) const {
    return stale_reasons_[static_cast<std::size_t>(reason)];
  }
  // Complete after next() has returned false.
  [[nodiscard]] const core::Findings& findings() const { return findings_; }

 private:
  // The nodes of one directory.
  class Nodes {
   public:
    using Reader = NodeReader;
    using Entry = NodeEntry;
    Nodes(Walk& walk, const DirectoryTable::Directory& directory)
        : walk_{walk}, directory_{directory} {}

    std::optional<NodeReader> root();
    std::optional<NodeReader> child(u64 vcn);
    std::optional<NodeReader> next_detached();
    static void end(const NodeReader&) {}

   private:
    std::vector<bool>::reference read(u64 buffer);
    std::optional<NodeReader> at(u32 piece);
    std::optional<u64> offset() const;

    Walk& walk_;
    const DirectoryTable::Directory& directory_;
    u64 next_ = 0;
  };

  // A place inside the index of one directory.
  struct Level {
    const DirectoryTable::Directory* directory;
    FileReference reference;
    Nodes nodes;
    std::size_t path_size = 0;  // of the directory itself
    IndexOrder<Nodes> order = {};
    std::set<std::pair<u64, u32>> seen = {};  // names of a directory whose index may repeat them
  };

  void start();
  bool step(RowBatch& batch);
  void add_entry(RowBatch& batch, const NodeEntry& entry);
  void enter(const RowSource& row, const RecordFacts& facts);
  void step_record(RowBatch& batch);
  void add_unreached(RowBatch& batch, u64 record);
  void step_slack(RowBatch& batch);
  void push(RowBatch& batch, RowSource row, std::string_view parent_path);
  bool was_reached(u64 record, u32 link) const;
  void reach(u64 record, u32 link);
  void note_state(const RowSource& row);
  bool may_repeat(u64 record);

  enum class Stage : u8 { start, live, records, slack, end };

  const Snapshot& snapshot_;
  StateSet states_;
  core::Findings findings_;
  std::array<u64, state_count> counts_{};
  std::array<u64, stale_reason_count> stale_reasons_{};
  Stage stage_ = Stage::start;
  std::vector<Level> levels_;
  std::string path_;                           // of the innermost directory
  std::vector<bool> reached_;                  // by record
  std::vector<bool> confirmed_;                // by record: a directory lists one of its names
  std::vector<bool> entered_;                  // directories, by record
  std::vector<bool> listed_;                   // records with a row
  std::unordered_map<u64, u64> stream_sizes_;  // streams and runs of records with several rows
  u64 repeats_left_;                           // streams and runs that may still be repeated
  std::vector<bool> read_buffers_;             // index buffers to which a node led
  std::vector<std::pair<u32, u32>> links_;     // reached names of files with several
  u64 next_record_ = 0;
  std::size_t next_slack_ = 0;
  PathChain chain_;
  RecordFacts facts_;
};

}  // namespace coldtrace::ntfs
