#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/findings.hpp"
#include "ntfs/path_chain.hpp"
#include "ntfs/snapshot.hpp"

namespace coldtrace::ntfs {

// The rows of a snapshot: what is live depth-first from the root in the order of the indexes,
// then what the directories do not reach, by record number, then names in slack.
class Walk {
 public:
  Walk(const Snapshot& snapshot, StateSet states);

  // Fills a batch with the next rows; false when there are none. Every row of every state is
  // counted, only those of the wanted states are in batches.
  bool next(RowBatch& batch);

  u64 count(State state) const { return counts_[static_cast<std::size_t>(state)]; }
  // Complete when next() has said false.
  const core::Findings& findings() const { return findings_; }

 private:
  // A place inside the index of one directory.
  struct Level {
    const DirectoryTable::Directory* directory;
    FileReference reference;
    std::vector<NodeReader> nodes;   // from the root of the index down
    std::vector<NodeEntry> pending;  // one a node; its child comes first
    u64 next_buffer = 0;             // buffers that no node leads to come last
    bool root_read = false;
    std::size_t path_size = 0;  // of the directory itself
  };

  void start();
  bool step(RowBatch& batch);
  bool next_entry(Level& level, NodeEntry& entry);
  void enter_node(Level& level, u64 vcn);
  void add_entry(RowBatch& batch, const NodeEntry& entry);
  void enter(const RowSource& row, const RecordFacts& facts);
  void step_record(RowBatch& batch);
  void add_unreached(RowBatch& batch, u64 record);
  void step_slack(RowBatch& batch);
  bool wanted(State state);
  void push(RowBatch& batch, RowSource row, std::string_view parent_path);
  bool was_reached(u64 record, u32 link) const;
  void reach(u64 record, u32 link);
  bool buffer_visited(const Level& level, u64 number) const;

  enum class Stage : u8 { start, live, records, slack, end };

  const Snapshot& snapshot_;
  StateSet states_;
  core::Findings findings_;
  std::array<u64, state_count> counts_{};
  Stage stage_ = Stage::start;
  std::vector<Level> levels_;
  std::string path_;                        // of the innermost directory
  std::vector<bool> reached_;               // by record
  std::vector<bool> entered_;               // directories, by record
  std::vector<bool> read_buffers_;          // index buffers that a node led to
  std::vector<std::pair<u32, u32>> links_;  // reached names of files with several
  u64 next_record_ = 0;
  std::size_t next_slack_ = 0;
  PathChain chain_;
  RecordFacts facts_;
};

}  // namespace coldtrace::ntfs
