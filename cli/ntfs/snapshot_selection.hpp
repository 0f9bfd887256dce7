#pragma once

#include <array>
#include <optional>
#include <string>

#include <rapidjson/fwd.h>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/row.hpp"

namespace coldtrace::cli {

// Which names of its volumes a snapshot lacks: those that its last lines count beyond its rows. All
// rows and last lines are read.
class SnapshotSelection {
 public:
  void read_row(const rapidjson::Value& json);
  void read_summary(const rapidjson::Value& json);

  // The warning where there are rows of a state, and not all: a snapshot has all names of a state
  // or, by its --state, none; a query's answer has those that matched.
  void report(core::Findings& findings);
  // "12 deleted": names that the volumes have and the snapshot leaves out; without their states
  // where its rows do not say them.
  std::string left_out() const;
  // Whether it is known that there are all names of a state: rows and last lines count the same.
  bool has_all(ntfs::State state) const;
  // The same of all states whose names are of files of their own.
  bool has_all_files() const;

 private:
  u64 lacking(std::size_t state) const;

  std::array<u64, ntfs::state_count> rows_{};
  std::array<u64, ntfs::state_count> stated_{};
  std::array<bool, ntfs::state_count> lost_{};  // some of their rows, and not all
  u64 stateless_ = 0;
  bool has_counts_ = false;
  bool matched_ = false;  // a query's answer
};

// What the snapshot leaves out, as `left_out` has it: a finding, for documents that have them.
void add_left_out(const std::string& left_out, core::Findings& findings);
// The same on standard error.
void say_left_out(const std::string& snapshot, const std::string& left_out);

}  // namespace coldtrace::cli
