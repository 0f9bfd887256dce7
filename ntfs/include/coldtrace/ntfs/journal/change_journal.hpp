#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/journal/journal_stream.hpp"
#include "coldtrace/ntfs/record_table.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// The data of a journal in $UsnJrnl:$Max. Source: [MS-FSCC] 2.3.61, USN_JOURNAL_DATA, of which it
// contains these; observed on Windows volumes.
struct JournalSettings {
  static constexpr u64 stored_size = 32;
  u64 maximum_size;
  u64 allocation_delta;
  u64 id;  // FILETIME of when the journal was made
  u64 lowest_valid_usn;
};

// `value` is that of the stream $Max, at byte `offset` of the image.
core::Result<JournalSettings> read_journal_settings(core::ByteView value, u64 offset);

// The change journal of a volume, $Extend\$UsnJrnl, or a deleted one.
struct ChangeJournal {
  FileReference file;
  bool in_use;
  std::optional<JournalSettings> settings;
  JournalStream stream;
};

// All journals of a volume, those in use first. `volume` and `records` must outlive them.
[[nodiscard]] std::vector<ChangeJournal> find_change_journals(const Volume& volume,
                                                              const RecordTable& records,
                                                              core::Findings& findings);

}  // namespace coldtrace::ntfs
