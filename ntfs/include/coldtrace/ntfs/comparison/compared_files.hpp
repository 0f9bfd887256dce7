#pragma once

#include <memory>
#include <vector>

#include "coldtrace/core/error.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/core/temporary_file.hpp"
#include "coldtrace/ntfs/comparison/compared_file.hpp"
#include "coldtrace/ntfs/gap.hpp"
#include "coldtrace/ntfs/packed.hpp"

namespace coldtrace::ntfs {

// The files of a volume by record and sequence: 24 bytes of memory per name, the rest in a
// temporary file.
class ComparedFiles {
 public:
  // An error where there is no room for a temporary file.
  static core::Result<ComparedFiles> create();

  // Adds a file with one name; others with the same record and sequence are its other names.
  core::Result<core::Done> add(const ComparedFile& file);
  // A stretch of the volume that could not be read or used.
  void add_gap(const Gap& gap);
  [[nodiscard]] bool has_gaps() const { return has_gaps_; }
  // A file in use that no directory lists, perhaps since one could not be read.
  void add_unlisted(FileReference file) { unlisted_.push_back(file); }
  // To be called once, before anything is read. `all_unlisted`: each such file was added.
  core::Result<core::Done> finish(bool all_unlisted = true);

  // Whether gaps leave open if the volume has a file that is not among these.
  [[nodiscard]] bool may_have(FileReference file) const;

  [[nodiscard]] u64 names() const { return entries_.size(); }

  // A file: consecutive entries.
  struct Group {
    std::size_t first = 0;
    std::size_t count = 0;
    FileReference file;  // increases from group to group
  };
  // The group after another; without one, the first. Its count is 0 at the end.
  [[nodiscard]] Group next(const Group& group) const;

  // The file with all its names; an error where the temporary file cannot be read.
  core::Result<ComparedFile> read(const Group& group) const;
  // Whether two files with one name each are equal in everything that is compared.
  core::Result<bool> same(const Group& group, const ComparedFiles& others,
                          const Group& other) const;

 private:
  struct Entry {
    FileReference file;
    u64 offset;
    u32 size;
    u32 compared;  // number of its bytes that are compared; the path follows them
  };
  core::Result<core::Done> flush();
  core::Result<core::ByteView> load(const Entry& entry, std::vector<std::byte>& memory) const;

  std::unique_ptr<core::TemporaryFile> file_;
  bool has_gaps_ = false;
  bool all_unlisted_ = true;
  LostRecords lost_records_;
  std::vector<FileReference> unlisted_;
  std::vector<Entry> entries_;
  std::vector<std::byte> pending_;
  std::unique_ptr<PackedWriter> writer_ = std::make_unique<PackedWriter>();
  mutable std::vector<std::byte> memory_;
};

}  // namespace coldtrace::ntfs
