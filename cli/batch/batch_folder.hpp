#pragma once

#include <string>
#include <vector>

#include "cli/batch/batch_manifest.hpp"
#include "cli/batch/batch_options.hpp"

namespace coldtrace::cli {

// The folder of results. Beside them it has "_batch", with "lock-commands", held by a run while it
// looks for results of other commands, and a folder for each command:
//   manifest.ndjson, or manifest-2-of-4.ndjson of a shard   the outcome of each input
//   lock-2-of-4                                             held by the run that works on the shard
//   work-2-of-4-XXXXXX                                      results that are being written
class BatchFolder {
 public:
  // Creates nothing. Throws Failure if results of another command in the folder are in the way.
  BatchFolder(const BatchOptions& options, const BatchedCommand& command);
  BatchFolder(const BatchFolder&) = delete;
  BatchFolder& operator=(const BatchFolder&) = delete;
  // Removes what is unfinished, and releases the lock.
  ~BatchFolder();

  // Creates folders and takes the lock, so that no other run works on the same results. Throws
  // Failure if one does, unless `wait`. Removes what a killed run left behind.
  void enter(bool wait);

  const ManifestHead& head() const { return head_; }
  // The format of results, which is passed to the command.
  const std::string& format() const { return head_.format; }

  // What is known about all inputs, whatever their shard; `own` are those in this shard's manifest.
  // Throws Failure if a manifest is of another command line, or two manifests use one name for
  // different inputs.
  BatchEntries read(std::vector<std::string>& own, core::Findings& findings) const;
  std::string manifest() const;
  // Replaces the manifest; a `whole` one covers all shards, whose own manifests are then removed.
  // `end` is null if inputs are left to process.
  void write_manifest(const BatchEntries& entries, const ManifestEnd* end, bool whole) const;

  // Where the result of an input is, relative to this folder; and including it.
  std::string result_path(const std::string& name) const;
  std::string full_path(const std::string& below) const { return folder_ + "/" + below; }
  // Where a worker writes the result.
  std::string work_path(std::size_t index) const;

 private:
  void refuse_other_commands() const;
  void claim();
  std::string lock_path() const;
  void refuse_other_shards() const;
  void remove_leftovers() const;
  // The names in the command's folder with this start and end.
  std::vector<std::string> names(std::string_view start, std::string_view end) const;

  std::string folder_, command_folder_;
  std::string shard_;  // "2-of-4"
  bool is_whole_;      // the only shard
  bool hive_, whole_paths_;
  ManifestHead head_;
  std::string ending_;  // of result files: ".ndjson.zst"
  int lock_ = -1;
  std::string work_;
};

}  // namespace coldtrace::cli
