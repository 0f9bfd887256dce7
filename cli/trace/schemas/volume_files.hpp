#pragma once

#include <array>
#include <compare>
#include <set>
#include <string>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/ntfs/snapshot.hpp"
#include "coldtrace/schema_files/file_tree.hpp"

namespace coldtrace::cli {

// The files in the directories of an NTFS volume, with their contents. A file with several names is
// listed once, under the first one with language files beside it, else under the first of all. An
// unreadable file is a finding, once per file.
class VolumeFiles final : public schema_files::FileTree {
 public:
  // `prefix` precedes all paths. All have to outlive the object.
  VolumeFiles(core::Borrowed<ntfs::Snapshot> snapshot, const std::string& prefix,
              core::Findings& findings);

  std::vector<std::string> list(const std::string& path, core::Findings& findings) const override;
  std::vector<Entry> list_folder(const std::string& folder, core::Findings&) const override;
  core::Result<std::unique_ptr<const core::ImageSource>> source(
      const std::string& path) const override;
  core::Result<std::unique_ptr<const File>> open(const std::string& path, u64 cap) const override;
  std::string stored_path(const std::string& path, const std::string&) const override {
    return path;
  }

 private:
  struct Name {
    std::string path;
    u64 record;
    bool is_listed = false;
    friend auto operator<=>(const Name&, const Name&) = default;
  };
  // A recently used file.
  struct Content {
    u64 record = 0;
    std::shared_ptr<const core::ImageSource> source;
    u64 stored = 0;
    std::shared_ptr<const std::vector<std::byte>> bytes;  // once all were needed
  };
  class NotedSource;
  class WholeFile;

  void collect(const std::string& prefix);
  void choose_names();
  std::vector<Name>::const_iterator from(const std::string& path) const;
  core::Result<Content*> find(const std::string& path) const;
  core::Result<Content> read(u64 record) const;
  void note(u64 record, const std::string& path, const core::ParseError& error) const;

  const ntfs::Snapshot& snapshot_;
  core::Findings& findings_;
  std::vector<Name> names_;  // by path
  // Enough for a module, its texts, and what is read in between.
  mutable std::array<Content, 4> lately_;
  mutable std::size_t next_ = 0;
  mutable std::set<u64> unreadable_;
};

}  // namespace coldtrace::cli
