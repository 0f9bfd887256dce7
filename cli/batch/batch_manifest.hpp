#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/batch/batch_inputs.hpp"
#include "cli/batch/command_words.hpp"
#include "cli/command/finding_tally.hpp"
#include "coldtrace/core/findings.hpp"

namespace coldtrace::cli {

struct ResultFile {
  std::string path;  // below the folder of results
  u64 size = 0;      // bytes
  std::string sha256;

  bool operator==(const ResultFile&) const = default;
};

// The outcome of one input.
struct BatchEntry {
  std::string name;
  std::string input;  // its path
  std::optional<InputIdentity> identity;
  std::string tool;                     // "coldtrace 1.0.0"
  std::string state;                    // "done", "failed", "crashed", "timed_out"
  std::optional<unsigned> exit_status;  // none if it was killed
  std::optional<unsigned> signal;
  std::optional<ResultFile> result;  // if done
  FindingTally findings;
  std::string error;  // if not done

  bool is_done() const { return state == "done"; }
  // Whether the name is taken for other inputs. It is not if the input failed because no file was
  // there: its path may have been wrong.
  bool keeps_name() const { return is_done() || identity.has_value(); }
};

// By name.
using BatchEntries = std::map<std::string, BatchEntry, std::less<>>;

// What a manifest says about all its entries.
struct ManifestHead {
  std::string kind;                  // "ntfs-snapshot"
  std::vector<std::string> command;  // its words, in UTF-8
  std::string format, compression, layout;

  bool operator==(const ManifestHead&) const = default;
};

struct ReadManifest {
  ManifestHead head;
  BatchEntries entries;
};

// Nothing if there is no manifest or, with a finding, the file is empty. A last line that was not
// completely written is skipped; any other line that is not a manifest entry is a finding. Throws
// Failure if the first line is not that of a manifest.
std::optional<ReadManifest> read_manifest(const std::string& path, core::Findings& findings);

// A line, with its newline.
std::string manifest_line(const BatchEntry& entry);

// What the summary of a manifest says.
struct ManifestEnd {
  bool complete = true;  // no folder of inputs was unreadable
  // Names of entries of earlier runs whose inputs this run does not have: they are not counted.
  std::set<std::string> not_named;
  core::Findings findings;  // of the run
};

// The whole document, without a summary if inputs are left to process.
std::string manifest_text(const ManifestHead& head, const BatchEntries& entries,
                          const ManifestEnd* end);

}  // namespace coldtrace::cli
