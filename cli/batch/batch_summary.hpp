#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/batch/batch_manifest.hpp"
#include "cli/batch/batch_options.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/core/findings.hpp"

namespace coldtrace::cli {

struct BatchSummary {
  ManifestHead head;
  Shard shard;
  u64 inputs = 0;
  u64 done = 0;
  u64 kept = 0;           // of `done`: from an earlier run, and unchanged
  u64 with_findings = 0;  // of `done`: with exit status 1
  u64 result_bytes = 0;
  u64 not_named = 0;  // entries of earlier runs whose inputs this run does not have
  u64 parts = 0;      // files that are read with another one
  u64 links = 0;      // symbolic links of folders, which are not followed
  u64 repeated = 0;   // lines of a list that name an input again
  std::vector<const BatchEntry*> failed;  // in the order of the inputs
  struct Found {
    u64 count = 0;
    u64 inputs = 0;
  };
  std::map<std::pair<std::string, std::string>, Found> found;  // by code and severity
  core::Findings findings;                                     // of the batch itself

  void add(const BatchEntry& entry);
};

void write_batch_summary(Output& output, const BatchSummary& summary, const CommonOptions& options);

}  // namespace coldtrace::cli
