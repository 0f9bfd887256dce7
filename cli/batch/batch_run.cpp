#include "cli/batch/batch_run.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "cli/batch/batch_folder.hpp"
#include "cli/batch/batch_guard.hpp"
#include "cli/batch/batch_inputs.hpp"
#include "cli/batch/batch_manifest.hpp"
#include "cli/batch/batch_summary.hpp"
#include "cli/batch/batch_work.hpp"
#include "cli/batch/durable_files.hpp"
#include "cli/batch/worker_pool.hpp"
#include "cli/command/version.hpp"
#include "cli/output/messages.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/output/text.hpp"
#include "cli/sandbox/sandbox.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

// A file's name, which must not begin like an option.
std::string as_argument(const std::string& path) {
  return path.starts_with('-') ? "./" + path : path;
}

// Throws where that cannot be told.
bool is_there(const std::string& path) {
  std::error_code error;
  const auto status = fs::symlink_status(path, error);
  if (!fs::status_known(status)) throw Failure{fmt::format("{}: {}", path, error.message())};
  return fs::exists(status);
}

// What a run says of an input that it cannot read, without what every message begins with.
std::string find_error(const std::string& messages, const std::string& path) {
  std::string_view left{messages};
  std::string_view chosen;
  while (!left.empty()) {
    const auto line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    if (chosen.empty() || line.starts_with("coldtrace: ")) chosen = line;
    if (line.starts_with("coldtrace: ")) break;
  }
  for (const auto& start : {std::string{"coldtrace: "}, printable(path) + ": "})
    if (chosen.starts_with(start)) chosen.remove_prefix(start.size());
  return std::string{chosen};
}

class Batch {
 public:
  Batch(const BatchOptions& options, const BatchedCommand& command, const RunProgram& run)
      : options_{options},
        command_{command},
        run_{run},
        inputs_{find_batch_inputs(options, command.parents)},
        workers_{options.seconds},
        folder_{options, command},
        guard_{options, command, inputs_.all},
        report_{options.findings},
        progress_{options.output, options.findings.quiet} {
    check_targets();
  }

  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  // What they write in goes next.
  ~Batch() { workers_.end_all(); }

  Exit run() {
    folder_.enter(options_.wait);
    check_targets();  // another run may have been there
    folder_.write_manifest(own_entries(), nullptr, false);
    work();
    for (const auto& input : inputs_.all) own_names_.insert(input.name);
    const bool is_whole = options_.shard.of == 1;
    const auto entries = own_entries();
    const auto end = manifest_end(entries);
    folder_.write_manifest(entries, &end, is_whole);
    return summarize(end);
  }

 private:
  // Reads the manifests. Throws where what lies in the place of a result is no earlier one.
  void check_targets() {
    std::vector<std::string> own;
    summary_.findings = {};
    entries_ = folder_.read(own, summary_.findings);
    own_names_ = {own.begin(), own.end()};
    existing_.clear();
    for (const auto& input : inputs_.all) check_target(input);
    for (const auto& [name, entry] : entries_) guard_.check_summary(folder_.result_path(name));
  }

  void check_target(const BatchInput& input) {
    const auto known = entries_.find(input.name);
    const bool is_known = known != entries_.end();
    if (is_known && known->second.keeps_name() && !is_same_input(known->second.input, input.path))
      refuse_same_name(known->second.input, input, options_.whole_paths);
    const auto below = folder_.result_path(input.name);
    guard_.check_summary(below);
    const auto path = folder_.full_path(below);
    if (!is_there(path)) return;
    existing_.insert(input.name);
    guard_.check_result(path);
    if (!is_known || !known->second.result || known->second.result->path != below)
      throw Failure{path + ": not a result that the manifest lists, and in the place of one"};
  }

  BatchEntries own_entries() const {
    if (options_.shard.of == 1) return entries_;
    BatchEntries own;
    for (const auto& name : own_names_)
      if (const auto known = entries_.find(name); known != entries_.end()) own.insert(*known);
    return own;
  }

  void work() {
    u64 bytes = 0;
    for (const auto& input : inputs_.all) {
      identities_.push_back(identify(input));
      bytes += identities_.back() ? identities_.back()->size : 0;
    }
    progress_.begin("batch", "inputs", bytes);
    std::size_t next = 0;
    while (next < inputs_.all.size() || workers_.size() > 0) {
      while (next < inputs_.all.size() && workers_.size() < options_.jobs) begin(next++);
      if (workers_.size() > 0) end(workers_.wait());
    }
  }

  void begin(std::size_t index) {
    const auto& input = inputs_.all[index];
    const auto known = entries_.find(input.name);
    const bool is_known = known != entries_.end() && known->second.tool == tool_version &&
                          may_be_same(known->second.identity, identities_[index]);
    if (!is_known || (!known->second.is_done() && options_.retry_failed)) {
      begin_run_on(index);
    } else if (known->second.is_done()) {
      checked_.insert(index);
      const auto path = folder_.full_path(known->second.result->path);
      workers_.start(index, [this, path, &known, &input](int answer) {
        return check_result(path, *known->second.result, hashed_parts(input), answer);
      });
    } else {
      progress_.add(size_of(index), 1);
    }
  }

  bool may_be_same(const std::optional<InputIdentity>& known,
                   const std::optional<InputIdentity>& now) const {
    if (!known || !now) return false;
    if (options_.compare_contents) return known->size == now->size && !known->sha256.empty();
    return known->size == now->size && known->mtime == now->mtime && known->inode == now->inode;
  }

  u64 size_of(std::size_t index) const { return identities_[index] ? identities_[index]->size : 0; }

  std::vector<std::string> hashed_parts(const BatchInput& input) const {
    return options_.compare_contents ? input.parts : std::vector<std::string>{};
  }

  void begin_run_on(std::size_t index) {
    const auto& input = inputs_.all[index];
    WorkOrder order{command_.path, folder_.work_path(index), hashed_parts(input)};
    if (is_sandbox_off()) order.words.insert(order.words.begin(), "--no-sandbox");
    const auto add = [&](std::initializer_list<std::string> words) {
      order.words.insert(order.words.end(), words);
    };
    if (command_.given_format.empty() && command_.formats.size() > 1)
      add({"--format", folder_.format()});
    if (command_.has_jobs) add({"--jobs", std::to_string(threads_of_each())});
    add({"-o", order.output, as_argument(input.path)});
    order.words.insert(order.words.end(), command_.rest.begin(), command_.rest.end());
    workers_.start(index, [this, order](int answer) { return work_on_input(run_, order, answer); });
  }

  unsigned threads_of_each() const {
    const auto at_once = std::min<std::size_t>(options_.jobs, inputs_.all.size());
    return std::max(1U, std::thread::hardware_concurrency() / static_cast<unsigned>(at_once));
  }

  void end(const WorkerPool::Ended& ended) {
    const auto index = ended.id;
    const auto answer = read_answer(ended.answer);
    if (checked_.erase(index) > 0 && !end_check(index, ended, answer)) {
      begin_run_on(index);
      return;
    }
    if (!kept_.contains(index)) end_run(index, ended, answer);
    progress_.add(size_of(index), 1);
  }

  // Whether the result is that of the manifest, and the input what it was.
  bool end_check(std::size_t index, const WorkerPool::Ended& ended, const WorkAnswer& answer) {
    const auto& input = inputs_.all[index];
    const auto& known = entries_.at(input.name);
    const bool same_input =
        !options_.compare_contents || answer.input_sha256 == known.identity->sha256;
    if (ended.exit == 0U && same_input) {
      kept_.insert(index);
      return true;
    }
    const auto path = folder_.full_path(known.result->path);
    if (ended.exit == 0U || !is_there(path)) return false;
    guard_.check_replaced(path, folder_.format());
    summary_.findings.warning("result-changed", std::nullopt,
                              "{}: did not match the manifest; it was made again", path);
    return false;
  }

  void end_run(std::size_t index, const WorkerPool::Ended& ended, const WorkAnswer& answer) {
    const auto& input = inputs_.all[index];
    if (!answer.unwritable.empty())
      throw Failure{fmt::format("{}: {}", options_.folder, answer.unwritable)};
    if (options_.findings.verbose) say(ended.messages);
    BatchEntry entry{.name = input.name,
                     .input = input.path,
                     .identity = identity_behind(index, answer),
                     .tool = std::string{tool_version},
                     .state = {},
                     .exit_status = ended.exit,
                     .signal = ended.signal,
                     .result = {},
                     .findings = answer.findings,
                     .error = {}};
    if (ended.timed_out) {
      entry.state = "timed_out";
      entry.error = fmt::format("not done in {}", counted(options_.seconds, "second", "seconds"));
    } else if (ended.signal) {
      entry.state = "crashed";
      entry.error = fmt::format("ended by signal {} ({})", *ended.signal,
                                ::strsignal(static_cast<int>(*ended.signal)));
    } else if (ended.exit <= 1U && answer.result) {
      entry.state = "done";
      entry.result = answer.result;
      entry.result->path = folder_.result_path(input.name);
    } else {
      entry.state = "failed";
      entry.error = find_error(ended.messages, input.path);
      if (entry.error.empty()) entry.error = "the command wrote no regular file";
    }
    keep(index, std::move(entry));
  }

  // What the input is, unless it changed meanwhile.
  std::optional<InputIdentity> identity_behind(std::size_t index, const WorkAnswer& answer) const {
    auto identity = identities_[index];
    if (identity != identify(inputs_.all[index])) return std::nullopt;
    if (identity) identity->sha256 = answer.input_sha256;
    return identity;
  }

  // First the manifest, then the name: no result is ever there that the manifest does not know.
  void keep(std::size_t index, BatchEntry entry) {
    const auto path = folder_.full_path(folder_.result_path(entry.name));
    const bool replaced = existing_.contains(entry.name);
    // That of an input which is no longer the same; no file is there without an entry that has it.
    if (!entry.is_done() && replaced) remove_durably(path);
    append_durably(folder_.manifest(), manifest_line(entry));
    if (entry.is_done()) {
      if (options_.hive) make_folders(path.substr(0, path.rfind('/')));
      rename_durably(folder_.work_path(index), path, replaced);
    } else {
      std::error_code ignored;
      fs::remove(folder_.work_path(index), ignored);
    }
    entries_.insert_or_assign(entry.name, std::move(entry));
  }

  ManifestEnd manifest_end(const BatchEntries& entries) const {
    ManifestEnd end{.complete = inputs_.failed.empty(), .not_named = {}, .findings = {}};
    for (const auto& [name, entry] : entries) end.not_named.insert(name);
    for (const auto& input : inputs_.all) end.not_named.erase(input.name);
    for (const auto& [folder, why] : inputs_.failed)
      end.findings.warning("folder-unreadable", std::nullopt, "{}: {}", folder, why);
    return end;
  }

  Exit summarize(const ManifestEnd& end) {
    summary_.head = folder_.head();
    summary_.shard = options_.shard;
    summary_.inputs = inputs_.all.size();
    summary_.parts = inputs_.parts;
    summary_.links = inputs_.links;
    summary_.repeated = inputs_.repeated;
    summary_.kept = kept_.size();
    summary_.not_named = end.not_named.size();
    for (const auto& input : inputs_.all) {
      const auto& entry = entries_.at(input.name);
      summary_.add(entry);
      if (entry.is_done())
        report_.read(input.path, {});
      else
        report_.failed(input.path, entry.error);
      if (entry.exit_status == 1U) report_.mismatch();
    }
    for (const auto& [folder, why] : inputs_.failed) report_.failed(folder, why);
    report_.tell(options_.folder, summary_.findings);
    // Told already, each with its name.
    summary_.findings.merge(end.findings);
    Output output{options_.output};
    write_batch_summary(output, summary_, options_);
    output.commit();
    return inputs_.all.empty() && inputs_.failed.empty() ? Exit::ok : report_.exit();
  }

  const BatchOptions& options_;
  const BatchedCommand& command_;
  const RunProgram& run_;
  BatchInputs inputs_;
  WorkerPool workers_;
  BatchFolder folder_;
  BatchGuard guard_;
  Report report_;
  TerminalProgress progress_;
  BatchSummary summary_;
  std::set<std::string> own_names_;  // of this shard's manifest
  std::set<std::string> existing_;   // whose results were there at the start
  BatchEntries entries_;
  std::vector<std::optional<InputIdentity>> identities_;  // at the start, of each input
  std::set<std::size_t> checked_;                         // inputs whose results are being hashed
  std::set<std::size_t> kept_;  // whose results are those of an earlier run
};

}  // namespace

Exit run_batch(const BatchOptions& options, const BatchedCommand& command, const RunProgram& run) {
  try {
    Batch batch{options, command, run};
    return batch.run();
  } catch (const Interrupted& by) {
    std::signal(by.signal, SIG_DFL);
    std::raise(by.signal);
    return Exit::failure;
  }
}

}  // namespace coldtrace::cli
