#pragma once

#include <array>
#include <optional>

#include "cli/ntfs/ntfs_input.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/ntfs/walk.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::cli {

// The lines of a snapshot around its rows: coldtrace.ntfs-snapshot/1.

// Totals of all volumes of a snapshot, listed or not.
struct SnapshotTotals {
  u64 volumes = 0;
  u64 gaps = 0;
  std::array<u64, ntfs::state_count> states{};
  std::array<u64, ntfs::stale_reason_count> stale_reasons{};
  core::Findings findings;

  // Adds a volume after its walk.
  void add(const ntfs::Snapshot& snapshot, const ntfs::Walk& walk);
};

// `names`: for hashed names; null: they are not hashed.
void write_snapshot_header(JsonWriter& json, const DiskInput& input,
                           const ntfs::Partition& partition, const ntfs::Snapshot& snapshot,
                           const privacy::HashedNames* names);
void write_snapshot_gap(JsonWriter& json, const ntfs::Gap& gap);
// `matched`: the number of rows that a query found.
void write_snapshot_summary(JsonWriter& json, const SnapshotTotals& totals,
                            std::optional<u64> matched = {});

}  // namespace coldtrace::cli
