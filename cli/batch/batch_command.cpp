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
                    "A file with the path of an input on each line; '-' is standard input");
  command.add_flag("--null", options.null_separated, "The list's paths end with a byte 0");
  command
      .add_input("--input", options.inputs,
                 "A file, or a folder whose files are inputs, and those of folders below; so are "
                 "folders of a list")
      .type_name("FILE|DIR")
      .repeatable();
  command
      .add_option("--include", options.include,
                  "Of folders, only files whose names match one of these globs")
      .type_name("GLOB")
      .repeatable();
  command
      .add_option_function<std::string>(
          "--shard", [&options](const std::string& text) { options.shard = *read_shard(text); },
          "Only each N-th input from the I-th on, for jobs that share the work")
      .check("I/N", [](const std::string& text) {
        return read_shard(text) ? "" : "'" + text + "' is no shard, as 2/4";
      });
}

void add_result_options(Command& command, BatchOptions& options) {
  command
      .add_option("--out-dir", options.folder,
                  "Write the results of each input to a file of this folder")
      .required()
      .type_name("DIR")
      .check("DIR", [](const std::string& text) {
        return text.empty() ? "no folder has an empty name" : "";
      });
  command
      .add_option_function<std::string>(
          "--out-layout", [&options](const std::string& text) { options.hive = text == "hive"; },
          "How results lie there: 'plain', one file beside the other, or 'hive', a tree of "
          "partitions (kind=ntfs-snapshot/image=NAME/part.ndjson.zst)")
      .one_of({"plain", "hive"})
      .default_str("plain");
  command
      .add_option("--pack", options.packing,
                  "Compression of results; without it 'zst' of a tree of partitions, else 'none'")
      .one_of({"none", "gz", "zst"});
  command
      .add_option_function<std::string>(
          "--named-by",
          [&options](const std::string& text) { options.whole_paths = text == "path"; },
          "What results are called by: 'short', an input's name or its path below the folder, or "
          "'path', all of its path")
      .one_of({"short", "path"})
      .default_str("short");
}

void add_run_options(Command& command, BatchOptions& options) {
  command.add_flag("--retry-failed", options.retry_failed,
                   "Also inputs that failed in an earlier run");
  command.add_flag("--hash", options.hash_inputs,
                   "Tell inputs that changed by SHA-256, not by size, time and inode");
  command
      .add_option("--timeout", options.seconds,
                  "End the work on an input after so many seconds; 0: never")
      .type_name("SECONDS")
      .default_str("0");
  command.add_flag("--wait", options.wait,
                   "Where another run works on the same inputs and folder, wait for its end");
  add_jobs_option(command, options, options.jobs);
}

void define_batch(Command& command, BatchOptions& options) {
  add_input_options(command, options);
  add_result_options(command, options);
  add_run_options(command, options);
  command.add_option("COMMAND", options.command, "The words of a command, behind '--'").required();
  command.before_sandbox([](SandboxNeeds& needs) { needs.later = true; });
}

}  // namespace

void add_batch_command(CLI::App& app, Exit& exit, const RunProgram& run) {
  add_command<BatchOptions>(
      app, exit,
      {"batch", "Run a command on many inputs, each in a process of its own, and go on later",
       "  coldtrace batch --input images --out-dir results -- ntfs snapshot\n"
       "  coldtrace batch --list images.txt --out-dir tree --out-layout hive -- ntfs journal "
       "--events\n"
       "  find . -name '*.etl' -print0 | coldtrace batch --list - --null --out-dir out -- trace "
       "decode\n"
       "  coldtrace batch --list images.txt --shard 2/4 --out-dir results -- ntfs snapshot\n",
       "  0  each input has its results\n"
       "  1  an input failed, or the run on it ended with 1; or an earlier result is not what its\n"
       "     manifest says\n"
       "  2  usage, no input could be read, results cannot be written, or another run works "
       "there\n"},
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
