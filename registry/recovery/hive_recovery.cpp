#include "coldtrace/registry/recovery/hive_recovery.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/registry/hive/key.hpp"
#include "registry/recovery/dirty_pages_log.hpp"
#include "registry/recovery/log_entries.hpp"

namespace coldtrace::registry {
namespace {

struct Candidate {
  const LogFile* file;
  BaseBlock base;
  LogUse use;
};

LogFormat format_of(u32 type) {
  if (type == 6) return LogFormat::entries;
  return type == 1 || type == 2 ? LogFormat::dirty_pages : LogFormat::unknown;
}

void reject(Candidate& log, std::string why, core::Findings& findings) {
  findings.warning("hive-log-other", std::nullopt, "{}: {}; it is not applied", log.file->name,
                   why);
  log.use.left = std::move(why);
}

// Names are the last characters of paths, which may begin at another place.
bool is_of_another(const BaseBlock& log, const BaseBlock& hive) {
  const auto file_name = [](const BaseBlock& base) {
    return std::string_view{base.name}.substr(base.name.rfind('\\') + 1);
  };
  return !log.name.empty() && !hive.name.empty() && !is_same_name(file_name(log), file_name(hive));
}

// The logs that may be of the hive, by the numbers of their base blocks: not by name, since the
// second may be the older one.
std::vector<Candidate> order_logs(std::span<const LogFile> logs, const BaseBlock& hive,
                                  core::Findings& findings) {
  std::vector<Candidate> candidates;
  for (const auto& file : logs) {
    auto& log = candidates.emplace_back(Candidate{&file, {}, {.name = file.name}});
    if (!file.unread.empty()) {
      reject(log, file.unread, findings);
      continue;
    }
    if (file.bytes.empty()) {
      log.use.left = "empty";
      continue;
    }
    const auto base = read_base_block(file.bytes);
    if (!base || format_of(base->type) == LogFormat::unknown) {
      reject(log, "not a log of a hive", findings);
      continue;
    }
    log.base = *base;
    log.use.sequence = base->primary_sequence;
    if (!base->has_checksum())
      reject(log, "the checksum of its base block is wrong", findings);
    else if (hive.has_checksum() && is_of_another(*base, hive))
      reject(log, fmt::format("a log of another hive, {}", base->name), findings);
    else
      log.use.format = format_of(base->type);
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return a.base.primary_sequence < b.base.primary_sequence;
  });
  return candidates;
}

// Of the new format.
void apply_entry_logs(HiveBytes& hive, const BaseBlock& before, std::vector<Candidate>& logs,
                      core::Findings& findings) {
  EntryProgress progress{.first = before.secondary_sequence};
  core::ByteView base;  // of the first log, where the hive's is broken
  for (auto& log : logs) {
    if (log.use.format != LogFormat::entries) continue;
    if (!before.has_checksum() && base.empty()) {
      base = log.file->bytes;
      progress.first = log.base.secondary_sequence;
    }
    if (progress.stopped) {
      log.use.left = "entries before it are missing";
      continue;
    }
    apply_entries(hive, *log.file, log.use, progress, findings);
    if (log.use.entries == 0 && log.use.left.empty())
      log.use.left = "all entries are older than the hive";
  }
  if (!progress.last) return;
  if (!base.empty()) hive.write_sector(base);
  hive.close(*progress.last, progress.bins_size);
}

// Of the old format: one of the logs is of this state of the hive.
void apply_page_logs(HiveBytes& hive, const BaseBlock& before, std::vector<Candidate>& logs,
                     core::Findings& findings) {
  bool applied = false;
  for (auto& log : logs) {
    if (log.use.format != LogFormat::dirty_pages) continue;
    if (applied || !is_log_of(log.base, before, hive.view())) {
      log.use.left = "of another state of the hive";
      continue;
    }
    apply_dirty_pages(hive, *log.file, log.base, log.use, findings);
    applied = log.use.entries > 0;
  }
}

std::string to_reason(const HiveRecovery& recovery) {
  if (recovery.logs.empty()) return "there is no log";
  std::string reasons;
  for (const auto& log : recovery.logs)
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", log.name,
                           log.left.empty() ? "nothing to apply" : log.left);
  return reasons;
}

void report(const HiveRecovery& recovery, core::Findings& findings) {
  const auto& before = recovery.before;
  const auto state = before.has_checksum()
                         ? fmt::format("sequence numbers {} and {}", before.primary_sequence,
                                       before.secondary_sequence)
                         : std::string{"the checksum of its base block is wrong"};
  if (recovery.entries == 0) {
    findings.warning(
        "hive-dirty", BaseBlock::sequence_offset,
        "the hive is dirty ({}), but nothing was applied: {}. Its last changes are missing", state,
        to_reason(recovery));
    return;
  }
  std::string names;
  for (const auto& log : recovery.logs)
    if (log.entries > 0) names += fmt::format("{}{}", names.empty() ? "" : ", ", log.name);
  findings.info("hive-log-applied", BaseBlock::sequence_offset,
                "the hive was dirty ({}): {} with {} of {} {} applied in memory", state,
                core::counted(recovery.entries, "log entry", "log entries"),
                core::counted(recovery.pages, "page", "pages"), names,
                recovery.entries == 1 ? "was" : "were");
}

}  // namespace

core::Result<HiveRecovery> recover_hive(std::vector<std::byte>& hive, std::span<const LogFile> logs,
                                        core::Findings& findings) {
  HiveRecovery recovery{.before = COLDTRACE_TRY(read_base_block(hive)), .logs = {}};
  const auto& before = recovery.before;
  const bool dirty = before.is_dirty();
  core::Findings of_clean;  // which logs are of no concern to
  auto candidates = order_logs(logs, before, dirty ? findings : of_clean);
  if (dirty) {
    u64 most_growth = u64{1} << 20;  // of bins that are not written whole
    for (const auto& log : logs) most_growth += log.bytes.size();
    HiveBytes bytes{hive, most_growth};
    apply_page_logs(bytes, before, candidates, findings);
    apply_entry_logs(bytes, before, candidates, findings);
  }
  for (auto& log : candidates) {
    if (!dirty) log.use.left = "the hive is clean";
    recovery.entries += log.use.entries;
    recovery.pages += log.use.pages;
    recovery.logs.push_back(std::move(log.use));
  }
  if (dirty) report(recovery, findings);
  return recovery;
}

}  // namespace coldtrace::registry
