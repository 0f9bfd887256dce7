#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/walk.hpp"

namespace coldtrace::tests {

// Bytes of the image that a stream has.
struct SeenPlace {
  u64 offset;
  u64 length;
  bool content;  // $DATA
};

// What a snapshot says of one name, copied out of it.
struct SeenRow {
  ntfs::State state;
  u64 record;
  u16 sequence;
  bool directory;
  u32 links;
  std::string short_name;
  std::vector<std::string> codes;  // of its findings
  std::vector<std::string> texts;
  std::optional<u64> size;  // of the content
  std::optional<u64> record_offset;
  std::optional<u64> resident_offset;
  std::vector<u32> fixup_positions;
  std::vector<ntfs::Extent> extents;  // of the content
  std::vector<std::string> streams;   // names
  std::optional<std::string> target;
  std::string owner;
  std::optional<ntfs::Times> information;
  std::optional<ntfs::Times> named;
  std::optional<ntfs::Times> index;
  u64 parent = 0;                 // record of the directory
  std::vector<SeenPlace> places;  // of all streams
  std::string members;            // all that is said of the file, findings apart

  bool has(std::string_view code) const {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
  }
};

struct Seen {
  bool opened = false;
  core::ParseError error{core::Fault::io, 0, "", "", 0, 0};
  core::Findings findings;
  std::vector<std::string> order;  // paths as they came
  std::multimap<std::string, SeenRow> rows;
  std::vector<ntfs::Gap> gaps;

  const SeenRow* find(const std::string& path) const {
    const auto found = rows.find(path);
    return found == rows.end() ? nullptr : &found->second;
  }
  std::optional<ntfs::State> state(const std::string& path) const {
    const auto* row = find(path);
    return row ? std::optional{row->state} : std::nullopt;
  }
  bool warns() const { return findings.has_warnings(); }
};

inline constexpr ntfs::StateSet all_states{
    ntfs::State::live,  ntfs::State::deleted, ntfs::State::detached, ntfs::State::unreachable,
    ntfs::State::stale, ntfs::State::slack,   ntfs::State::unnamed};

struct SnapshotOptions {
  ntfs::StateSet states = {ntfs::State::live};
  unsigned jobs = 1;
  bool slack = false;
  u64 offset = 0;
  bool mft_only = false;
};

// Takes a snapshot and copies all of it.
Seen snapshot_of(const core::ImageSource& image, const SnapshotOptions& options = {});
Seen snapshot_of(core::ByteView bytes, const SnapshotOptions& options = {});

}  // namespace coldtrace::tests
