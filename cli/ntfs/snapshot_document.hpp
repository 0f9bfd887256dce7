#pragma once

#include <array>
#include <optional>

#include "cli/ntfs/ntfs_input.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/ntfs/walk.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::cli {

// The lines of a snapshot around its rows: coldtrace.ntfs-snapshot/1.

// What all volumes of a snapshot had, listed or not.
struct SnapshotTotals {
  u64 volumes = 0;
  u64 gaps = 0;
  std::array<u64, ntfs::state_count> states{};
  std::array<u64, ntfs::stale_reason_count> stale_reasons{};
  core::Findings findings;

  // A volume whose walk has ended.
  void add(const ntfs::Snapshot& snapshot, const ntfs::Walk& walk);
};

// `names`: those that are hashed; null: they are as they are.
void write_snapshot_header(JsonWriter& json, const DiskInput& input,
                           const ntfs::Partition& partition, const ntfs::Snapshot& snapshot,
                           const privacy::HashedNames* names);
void write_snapshot_gap(JsonWriter& json, const ntfs::Gap& gap);
// `matched` are the rows that a query found.
void write_snapshot_summary(JsonWriter& json, const SnapshotTotals& totals,
                            std::optional<u64> matched = {});

}  // namespace coldtrace::cli
