#include "cli/batch/batch_command.hpp"

#include <charconv>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/batch/batch_run.hpp"
#include "cli/batch/command_words.hpp"
#include "cli/command/output_guard.hpp"
#include "cli/sandbox/sandbox.hpp"

namespace coldtrace::cli {
namespace {

// "2/4"; nothing where it is none.
std::optional<Shard> read_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, shard.number);
  if (number.ec != std::errc{} || number.ptr == end || *number.ptr != '/') return std::nullopt;
  const auto of = std::from_chars(number.ptr + 1, end, shard.of);
  if (of.ec != std::errc{} || of.ptr != end || shard.number < 1 || shard.number > shard.of ||
      shard.of > 1'000'000)
    return std::nullopt;
  return shard;
}

void add_input_options(Command& command, BatchOptions& options) {
  command.add_input("--list", options.list,
                    "Read the paths of inputs from this file, one per line; '-' is standard input");
  command.add_flag("--null", options.null_separated,
                   "Paths in the list are separated by NUL, as 'find -print0' writes them");
  command
      .add_input("--input", options.inputs,
                 "An input file, or a folder whose files, at any depth, are inputs; a list may "
                 "name folders too")
      .type_name("FILE|DIR")
      .repeatable();
  command
      .add_option("--include", options.include,
                  "In folders, take only files whose names match one of these globs")
      .type_name("GLOB")
      .repeatable();
  command
      .add_option_function<std::string>(
          "--shard", [&options](const std::string& text) { options.shard = *read_shard(text); },
          "Process every N-th input, starting with the I-th: N machines with I = 1 to N share the "
          "work")
      .check("I/N", [](const std::string& text) {
        return read_shard(text) ? "" : "'" + text + "' is not a shard; expected I/N, such as 2/4";
      });
}

void add_result_options(Command& command, BatchOptions& options) {
  command
      .add_option("--out-dir", options.folder,
                  "Write the results to this folder, one file per input")
      .required()
      .type_name("DIR")
      .check("DIR", [](const std::string& text) {
        return text.empty() ? "no folder has an empty name" : "";
      });
  command
      .add_option_function<std::string>(
          "--out-layout", [&options](const std::string& text) { options.hive = text == "hive"; },
          "How the folder is organised: 'plain', all results side by side, or 'hive', in "
          "Hive-style partitions (kind=ntfs-snapshot/image=NAME/part.ndjson.zst)")
      .one_of({"plain", "hive"})
      .default_str("plain");
  command
      .add_option(
          "--compression", options.compression,
          "Compression of results; by default 'zstandard' with --out-layout hive, otherwise 'none'")
      .one_of({"none", "gzip", "zstandard"});
  command
      .add_option_function<std::string>(
          "--named-by",
          [&options](const std::string& text) { options.whole_paths = text == "path"; },
          "Name results after the input's file name or, in a folder, its path below it "
          "('short'), or after its full path ('path')")
      .one_of({"short", "path"})
      .default_str("short");
}

void add_run_options(Command& command, BatchOptions& options) {
  command.add_flag("--retry-failed", options.retry_failed,
                   "Retry inputs that failed in an earlier run");
  command.add_flag("--compare-contents", options.compare_contents,
                   "Detect changed inputs by the SHA-256 of their contents instead of size, "
                   "modification time and inode");
  command
      .add_option(
          "--timeout", options.seconds,
          "Kill the process of an input after this many seconds and count it as failed; 0: never")
      .type_name("SECONDS")
      .default_str("0");
  command.add_flag("--wait", options.wait,
                   "Wait for another run on the same inputs and folder to end, instead of failing");
  add_jobs_option(command, options, options.jobs,
                  "Inputs at a time (0: one per CPU); the results are the same for any number");
}

void define_batch(Command& command, BatchOptions& options) {
  add_input_options(command, options);
  add_result_options(command, options);
  add_run_options(command, options);
  command.add_option("COMMAND", options.command, "The command to run and its options, after '--'")
      .required();
  command.before_sandbox([](SandboxNeeds& needs) { needs.later = true; });
}

}  // namespace

void add_batch_command(CLI::App& app, Exit& exit, const RunProgram& run) {
  add_command<BatchOptions>(
      app, exit,
      {"batch", "Run a command on many inputs, one process each; resumes an interrupted run",
       "  coldtrace batch --input images --out-dir results -- ntfs snapshot\n"
       "  coldtrace batch --list images.txt --out-dir tree --out-layout hive -- ntfs journal "
       "--events\n"
       "  find . -name '*.etl' -print0 | coldtrace batch --list - --null --out-dir out -- trace "
       "decode\n"
       "  coldtrace batch --list images.txt --shard 2/4 --out-dir results -- ntfs snapshot\n",
       "  0  the command ended with 0 for every input\n"
       "  1  an input failed, the command ended with 1 for one, or an earlier result does not\n"
       "     match the manifest\n"
       "  2  usage error, no readable input, results cannot be written, or another run works\n"
       "     on the same inputs\n"},
      {"text", "json"}, define_batch, [&app, run](const BatchOptions& options) {
        guard_output(options.output, options.format, options.named_inputs);
        refuse_help(app, options.command);
        Exit answer = Exit::failure;
        const auto command = read_command(app, options.command, run, answer);
        return command ? run_batch(options, *command, run) : answer;
      });
}

std::optional<Exit> run_output_folder_line(CLI::App& app, const std::vector<std::string>& words,
                                           const RunProgram& run) {
  const auto batch = read_output_folder_line(app, words);
  if (!batch) return std::nullopt;
  Exit answer = Exit::failure;
  const auto command = read_command(app, batch->command, run, answer);
  return command ? run_batch(*batch, *command, run) : answer;
}

}  // namespace coldtrace::cli
