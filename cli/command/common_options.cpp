#include "cli/command/common_options.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command/command_outline.hpp"
#include "cli/command/default_format.hpp"
#include "cli/command/output_guard.hpp"
#include "cli/command/pipe_progress.hpp"
#include "cli/output/opened_target.hpp"
#include "cli/output/output.hpp"
#include "cli/output/terminal.hpp"
#include "cli/sandbox/reading_rights.hpp"
#include "cli/sandbox/sandbox.hpp"

namespace coldtrace::cli {
namespace {

// Pages, and JSON of commands that have nothing for people beside it.
bool is_for_programs_alone(const std::vector<std::string>& formats) {
  const auto& only = formats.front();
  return formats.size() == 1 && (only == "html" || only == "json" || only == "jsonl");
}

// Those that --int64 may change something of. Rows have JSON in cells of CSV.
std::vector<std::string> formats_with_json(std::vector<std::string> formats) {
  const bool rows = writes_rows(formats);
  std::erase_if(formats, [rows](const std::string& format) {
    return !(format.starts_with("json") || format == "ndjson" || (format == "csv" && rows));
  });
  return formats;
}

}  // namespace

void add_common_options(Command& command, const std::vector<std::string>& formats,
                        CommonOptions& options) {
  options.formats = formats;
  const bool rows = writes_rows(formats);
  if (formats.size() > 1)
    command
        .add_option(
            "--format", options.format,
            rows ? "Output format; by default from the extension of the -o file, else text on a "
                   "terminal"
                 : "Output format; by default from the extension of the -o file")
        .one_of(formats)
        .default_str(formats.front());
  if (rows) add_text_time_options(command, options.text);
  command.heading(common_options_heading);
  command
      .add_option(
          "-o,--output", options.output.path,
          "Write results to FILE, atomically, instead of standard output; compressed if it ends "
          "with .gz or .zst")
      .check("FILE", [](const std::string& file) {
        return file.empty() ? "no file has an empty name; '-' is standard output" : "";
      });
  if (std::find(formats.begin(), formats.end(), "text") != formats.end())
    add_pager_option(command, options.text);
  if (std::find(formats.begin(), formats.end(), "csv") != formats.end())
    command.add_flag(
        "--csv-safe", options.output.csv_safe,
        "CSV: put an apostrophe before cells that a spreadsheet would take for formulas");
  command
      .add_option("--fail-on", options.findings.fail_on,
                  "Exit with 1 when there is a finding with one of these codes")
      .list("CODE")
      .finding_codes();
  command
      .add_option("--tolerate", options.findings.tolerate,
                  "Ignore findings with these codes for the exit status")
      .list("CODE")
      .finding_codes();
  command.add_flag("-q,--quiet", options.findings.quiet,
                   "Print no findings on standard error; exit status unaffected");
  command.add_flag("-v,--verbose", options.findings.verbose,
                   "Also print informational findings (by default only counted)");
  if (const auto json = formats_with_json(formats); !json.empty())
    command
        .add_option_function<std::string>(
            "--int64",
            [&options](const std::string& how) {
              options.int64 = how == "string" ? Int64::string : Int64::number;
            },
            "JSON integers above 2^53: as 'number' or 'string'")
        .one_of({"number", "string"})
        .for_formats(json);
  command.add_flag("--no-sandbox", is_sandbox_off(), no_sandbox_help);
  command.heading("Options");
}

namespace {

// Nobody types a trace or an image, and a run would wait for it without a word.
void refuse_terminal(const std::vector<std::string>& inputs) {
  const auto is_standard = [](const std::string& path) {
    return path == "-" || path == "/dev/stdin";
  };
  const auto input = std::ranges::find_if(inputs, is_standard);
  if (input != inputs.end() && ::isatty(STDIN_FILENO) == 1)
    throw Failure{fmt::format(
        "{}: standard input is a terminal; name a file, or give it one with '< FILE' or a pipe",
        *input)};
}

}  // namespace

void begin_run(CommonOptions& options, const Command& command) {
  if (OutlineAlone::is_wanted())
    throw CommandOutline{options.formats, options.format, options.output.path, command.inputs()};
  if (options.text.pager && !options.format.empty() && options.format != "text")
    throw Failure{"--pager is for --format text"};
  if (options.format.empty())
    options.format =
        default_format(options.formats, options.output,
                       command.has_whole_text() && command.check_options_for("text").empty());
  if (options.output.csv_safe && options.format.find("csv") == std::string::npos)
    throw Failure{"--csv-safe is for --format csv"};
  if (auto wrong = command.check_options_for(options.format); !wrong.empty())
    throw Failure{std::move(wrong)};
  options.named_inputs = command.inputs();
  refuse_terminal(options.named_inputs);
  refuse_by_status(options.output, options.format, options.named_inputs);
  if (is_for_programs_alone(options.formats) && is_shown_on_terminal(options.output))
    throw Failure{fmt::format("{} is not shown on a terminal; name a file with -o",
                              options.format == "html" ? "a page" : "JSON for other programs")};
  begin_text(options.text, options.format, options.output);
  PipeProgress::show(options.output, options.findings.quiet);
  // A pager has whole lines, and a command's only format is for programs as well.
  if (options.formats.size() > 1 && options.format == "text" && !options.text.pager &&
      is_shown_on_terminal(options.output))
    options.output.columns = terminal_columns();
  SandboxNeeds needs{.inputs = options.named_inputs};
  if (!options.output.is_standard()) needs.output = options.output.path;
  const auto why = needs.output.empty() ? std::string{} : open_target(needs.output);
  command.tell_needs(needs);
  // Who enters the sandbox later may make folders before.
  if (!why.empty() && !needs.later) fail_to_write(options.output.path, why);
  if (!needs.later) enter_run(options, needs);
}

void enter_run(const CommonOptions& options, const SandboxNeeds& needs) {
  enter_sandbox(needs);
  guard_output(options.output, options.format, options.named_inputs);
  leave_other_files(needs);
}

void add_jobs_option(Command& command, CommonOptions& options, unsigned& jobs) {
  add_jobs_option(command, options, jobs,
                  "Threads (0: one per CPU); the output is the same for any number");
}

void add_jobs_option(Command& command, CommonOptions& options, unsigned& jobs, const char* help) {
  jobs = std::clamp(std::thread::hardware_concurrency(), 1U, most_jobs);
  options.output.packing_threads = jobs;
  command
      .add_option_function<unsigned>(
          "-j,--jobs",
          [&jobs, &options](const unsigned& wanted) {
            if (wanted > 0) options.output.packing_threads = jobs = wanted;
          },
          help)
      .in_range(0, most_jobs)
      .default_str("0");
}

}  // namespace coldtrace::cli
