#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/progress.hpp"
#include "coldtrace/ntfs/assembly.hpp"
#include "coldtrace/ntfs/cluster_marks.hpp"
#include "coldtrace/ntfs/gap.hpp"
#include "coldtrace/ntfs/mft.hpp"
#include "coldtrace/ntfs/packed_record.hpp"

namespace coldtrace::ntfs {

// The facts of all FILE records of a volume, packed.
class RecordTable {
 public:
  // Reads $MFT once, from start to end; `jobs` threads share the work without affecting the result.
  // Records beyond `most_chunks` of an arena are left out, and reported. `progress` is called with
  // bytes and records; it may be null.
  static RecordTable scan(const core::ImageSource& image, const Mft& mft, unsigned jobs,
                          core::Findings& findings, std::vector<Gap>& gaps,
                          ClusterMarks* marks = nullptr, u32 most_chunks = Arena::chunk_limit,
                          core::Progress* progress = nullptr);

  RecordTable(RecordTable&&) = default;

  [[nodiscard]] u64 size() const { return slots_.size(); }
  // False for records that were never used, are unreadable, or have no header.
  [[nodiscard]] bool has(u64 record) const {
    return record < slots_.size() && slots_[record].piece != Arena::none;
  }
  [[nodiscard]] RecordSummary summary(u64 record) const { return slots_[record].summary; }

  // Prefetches the start of a record that is needed soon: call it for many before using the first,
  // so that the waits for memory overlap (bench/compare-ntfs: a fifth of the time in user mode).
  void fetch_ahead(u64 record) const {
    if (!has(record)) return;
    const auto* piece = arena_->at(slots_[record].piece).data();
    static_cast<void>(*static_cast<const volatile std::byte*>(piece));
  }

  // Only the record. Views in `facts` are valid as long as the table.
  void unpack(u64 record, RecordFacts& facts) const;

  // A file: its base record and those that extend it.
  Assembly assemble(u64 record, RecordFacts& facts) const;
  // As assemble, if only information, names and the size of the content are needed.
  void assemble_names(u64 record, RecordFacts& facts) const;

  // False on volumes whose files mostly have times without fractions of a second: they were written
  // by drivers that store such times, or files came from FAT.
  [[nodiscard]] bool has_rare_whole_seconds() const { return whole_seconds_ * 100 < timed_; }

  // Files in use whose security descriptor is in $Secure.
  [[nodiscard]] u64 secured() const { return secured_; }

  // Unique for each table, including destroyed ones, as long as it is held.
  [[nodiscard]] const std::shared_ptr<const char>& identity() const { return identity_; }

  [[nodiscard]] u64 memory() const;  // bytes

 private:
  struct Worker;
  class Scan;
  // The place of a record in the arena, and what the walks need of every record.
  struct Slot {
    u32 piece = Arena::none;
    RecordSummary summary;
  };
  // A record that names another one as its base.
  struct Claim {
    u32 base;
    u32 record;
    friend auto operator<=>(const Claim&, const Claim&) = default;
  };
  explicit RecordTable(u32 most_chunks) : arena_{std::make_unique<Arena>(most_chunks)} {}
  std::span<const u32> claims_of(u64 base) const;
  void read_lists(const core::ImageSource& image, const Mft& mft, std::span<const u32> records);

  std::shared_ptr<const char> identity_ = std::make_shared<const char>();
  std::unique_ptr<Arena> arena_;
  std::vector<Slot> slots_;
  std::vector<u32> claimed_bases_;  // in order, parallel to the records that claim them
  std::vector<u32> claims_;
  std::unordered_map<u64, Assembly> assemblies_;  // of the records with an attribute list
  u64 secured_ = 0;
  u64 timed_ = 0;          // records in use with a time of creation
  u64 whole_seconds_ = 0;  // of those, number without fractions of a second in any time
};

}  // namespace coldtrace::ntfs
