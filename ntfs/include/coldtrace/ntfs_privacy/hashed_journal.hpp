#pragma once

#include <string>

#include "coldtrace/ntfs/journal/journal_replay.hpp"
#include "coldtrace/ntfs_privacy/hashed_path.hpp"

namespace coldtrace::ntfs {

// Hashes the names and paths of journal rows. One object per thread.
class JournalHasher {
 public:
  explicit JournalHasher(core::Borrowed<privacy::HashedNames> names) : names_{names} {}

  // The batch's names are then owned by this object, until the next batch.
  void hash(JournalBatch& batch);

 private:
  StoredNameHasher names_;
  std::string paths_;
};

}  // namespace coldtrace::ntfs
