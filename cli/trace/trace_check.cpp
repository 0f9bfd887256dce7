#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/session_text.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_input.hpp"
#include "cli/trace/trace_schemas.hpp"
#include "cli/trace/trace_where.hpp"
#include "coldtrace/tracefile/events/sequence_findings.hpp"
#include "coldtrace/tracefile/where/expectations.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::CheckedTrace;
using tracefile::Expectation;

struct TraceCheckOptions : TraceInputOptions {
  std::vector<Expectation> expectations;
  SchemaOptions schemas;
};

// What is known of a check, for all formats.
struct Answer {
  std::vector<Expectation> expectations;
  CheckedTrace trace;
  tracefile::LostCount events_lost;  // its buffers apart
  tracefile::LostCount buffers_lost;
  // Damage and loss that decide the exit status, in words.
  std::vector<std::pair<std::string, std::string>> damage;  // by code
  bool tolerates_no_match = false;

  bool met(const Expectation& expectation) const {
    return tolerates_no_match ? expectation.within_limits() : expectation.met();
  }

  u64 failed() const {
    u64 count = 0;
    for (const auto& expectation : expectations) count += met(expectation) ? 0U : 1U;
    return count;
  }
};

// "at least 1", "none", "2 to 5".
std::string wanted_text(const Expectation& expectation) {
  const auto least = expectation.least();
  if (!expectation.max) return "at least " + grouped(least);
  if (*expectation.max == 0) return "none";
  if (least == 0) return "at most " + grouped(*expectation.max);
  if (least == *expectation.max) return "exactly " + grouped(least);
  return fmt::format("{} to {}", grouped(least), grouped(*expectation.max));
}

// "3 events, expected none".
std::string outcome_text(const Expectation& expectation) {
  return fmt::format("{}, expected {}{}", counted(expectation.events, "event", "events"),
                     wanted_text(expectation),
                     expectation.no_match ? "; it names what no event has" : "");
}

// "0.0134 %", rounded up; "-" without an event.
std::string percent_text(const CheckedTrace& trace) {
  constexpr u64 ppm_of_percent = 10'000;
  const auto ppm = trace.undecoded_ppm();
  if (!ppm) return "-";
  return fmt::format("{}.{:04} %", *ppm / ppm_of_percent, *ppm % ppm_of_percent);
}

// "2", "unknown, at least 2", "unknown".
std::string number_lost(const tracefile::LostCount& lost) {
  if (lost.all) return fmt::format("{}", *lost.all);
  return lost.at_least > 0 ? fmt::format("unknown, at least {}", lost.at_least) : "unknown";
}

void write_text(Output& output, const Answer& answer) {
  for (const auto& expectation : answer.expectations)
    print(output, "{:<6} {}: {}\n", answer.met(expectation) ? "ok" : "FAILED",
          printable(expectation.text), outcome_text(expectation));
  const auto& trace = answer.trace;
  print(output, "{} of {} met; {}, {} of them ({}) not fully decoded, {}\n",
        answer.expectations.size() - answer.failed(),
        counted(answer.expectations.size(), "expectation", "expectations"),
        counted(trace.events, "event", "events"), grouped(trace.undecoded), percent_text(trace),
        counted(trace.gaps, "gap", "gaps"));
  print(output, "events lost: {}, buffers lost: {}\n", number_lost(answer.events_lost),
        number_lost(answer.buffers_lost));
}

void write_json(JsonWriter& json, const Answer& answer, const TraceInput& input,
                const std::vector<FailedInput>& failed) {
  json.begin_object()
      .field("schema", "coldtrace.trace-check/1")
      .field("tool", tool_version)
      .field("format", input.trace.format())
      .field("met", answer.failed() == 0)
      .key("expectations")
      .begin_array();
  for (const auto& expectation : answer.expectations)
    json.begin_object()
        .field("where", expectation.text)
        .field("min", expectation.least())
        .field("max", expectation.max)
        .field("events", expectation.events)
        .field("no_match", expectation.no_match)
        .field("met", answer.met(expectation))
        .end_object();
  json.end_array()
      .field("events", answer.trace.events)
      .field("undecoded", answer.trace.undecoded)
      .field("undecoded_ppm", answer.trace.undecoded_ppm())
      .field("gaps", answer.trace.gaps);
  write_lost(json, answer.events_lost, answer.buffers_lost);
  json.key("failed_inputs");
  write_failed_inputs(json, failed);
  json.key("findings");
  write_findings(json, input.findings);
  json.end_object().end_document();
}

// Text of an attribute. XML has no control characters; they are shown escaped.
std::string safe_xml(std::string_view text) {
  return xml_text(printable(text));
}

// Tools that read JUnit's files tell the cases of a suite apart by their names alone.
class CaseNames {
 public:
  // The text itself, or behind it which one of that text it is: "cpu == 0 (2)".
  std::string next(const std::string& text) {
    auto name = text;
    for (unsigned number = 2; !names_.insert(name).second; ++number)
      name = fmt::format("{} ({})", text, number);
    return name;
  }

 private:
  std::set<std::string> names_;
};

void write_junit(Output& output, const Answer& answer, const std::vector<FailedInput>& failed) {
  const auto tests = answer.expectations.size() + failed.size() + answer.damage.size();
  const auto failures = answer.failed() + answer.damage.size();
  const auto property = [&](std::string_view name, const std::string& value) {
    print(output, "      <property name=\"{}\" value=\"{}\"/>\n", name, value);
  };
  print(output,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{1}\" "
        "errors=\"{2}\">\n"
        "  <testsuite name=\"coldtrace trace check\" tests=\"{0}\" failures=\"{1}\" "
        "errors=\"{2}\">\n"
        "    <properties>\n",
        tests, failures, failed.size());
  property("events", fmt::format("{}", answer.trace.events));
  property("undecoded", fmt::format("{}", answer.trace.undecoded));
  property("undecoded_percent", percent_text(answer.trace));
  property("gaps", fmt::format("{}", answer.trace.gaps));
  property("events_lost", number_lost(answer.events_lost));
  property("buffers_lost", number_lost(answer.buffers_lost));
  output.write("    </properties>\n");
  CaseNames expected;
  CaseNames inputs;
  for (const auto& expectation : answer.expectations) {
    print(output, "    <testcase classname=\"coldtrace.trace.check\" name=\"{}\"",
          safe_xml(expected.next(expectation.text)));
    if (!answer.met(expectation))
      print(output, ">\n      <failure message=\"{}\"/>\n    </testcase>\n",
            outcome_text(expectation));
    else if (expectation.no_match)
      print(output, ">\n      <system-out>{}</system-out>\n    </testcase>\n",
            outcome_text(expectation));
    else
      output.write("/>\n");
  }
  for (const auto& [code, text] : answer.damage)
    print(output,
          "    <testcase classname=\"coldtrace.trace.finding\" name=\"{}\">\n"
          "      <failure message=\"{}\"/>\n    </testcase>\n",
          code, safe_xml(text));
  for (const auto& input : failed)
    print(output,
          "    <testcase classname=\"coldtrace.trace.input\" name=\"{}\">\n"
          "      <error message=\"{}\"/>\n    </testcase>\n",
          safe_xml(inputs.next(input.file)), safe_xml(input.error));
  output.write("  </testsuite>\n</testsuites>\n");
}

// What is wrong with an expectation; empty: nothing.
std::string check_bounds(const std::vector<Expectation>& expectations) {
  for (const auto& expectation : expectations)
    if (expectation.contradicts_itself())
      return fmt::format("--expect '{}': --min is greater than --max", expectation.text);
  return {};
}

Exit run_trace_check(const TraceCheckOptions& options) {
  Answer answer;
  answer.expectations = options.expectations;
  answer.tolerates_no_match = std::ranges::count(options.findings.tolerate, "no-match") > 0;
  if (const auto wrong = check_bounds(answer.expectations); !wrong.empty()) throw Failure{wrong};
  for (auto& expectation : answer.expectations) {
    auto where = read_where("--expect", expectation.text);
    if (!where) return Exit::failure;
    expectation.where = std::move(*where);
  }
  Report report{options.findings};
  const auto use = options.schemas.any() ? TraceUse::lines_by_files : TraceUse::lines;
  auto input = open_trace(options, use, report);
  if (!input) return Exit::failure;
  const TraceSchemas schemas{options.schemas, options, *input};
  const auto& trace = input->trace;
  tracefile::StreamOptions stream;
  stream.progress = input->begin_progress("counting");
  const auto events = trace.stream(stream);
  answer.trace =
      count_expected(schemas.context_of(trace), *events, answer.expectations, input->findings);
  tracefile::note_unread_buffers(events->unread_buffers(), input->findings);
  answer.events_lost = trace.events_lost();
  answer.buffers_lost = trace.buffers_lost();
  // What an expectation names and no event has is told by that expectation.
  for (const auto& finding : input->findings.all())
    if (options.findings.fails(finding) && finding.code.view() != "no-match")
      answer.damage.emplace_back(finding.code.view(), finding.text);
  Output output{options.output};
  output.outlive_reader();
  if (options.format == "json") {
    JsonWriter json{output, options.int64};
    write_json(json, answer, *input, report.failed_inputs());
  } else if (options.format == "junit") {
    write_junit(output, answer, report.failed_inputs());
  } else {
    write_text(output, answer);
  }
  output.commit();
  input->tell(report);
  if (answer.failed() > 0) report.mismatch();
  return report.exit();
}

Expectation& last_of(TraceCheckOptions& options, std::string_view bound) {
  if (options.expectations.empty())
    throw Failure{fmt::format("{} must follow the --expect that it applies to", bound)};
  return options.expectations.back();
}

void add_bound(Command& command, TraceCheckOptions& options, const std::string& name,
               std::optional<u64> Expectation::*bound, const std::string& help) {
  const auto take = [&options, name, bound](const std::string& text) {
    u64 events = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, events);
    if (read.ec != std::errc{} || read.ptr != end)
      throw Failure{fmt::format("{}: '{}' is not a number of events", name, text)};
    last_of(options, name).*bound = events;
  };
  command.add_option_function<std::string>(name, take, help).type_name("N").in_order();
}

}  // namespace

void add_trace_check(CLI::App& app, Exit& exit) {
  add_command<TraceCheckOptions>(
      app, exit,
      {"check", "Check that a trace has the events it should have, for tests and CI",
       "  coldtrace trace check run.etl --expect 'name == \"Process/Start\"' --min 2\n"
       "  coldtrace trace check run.etl --expect 'Status == 0xc0000005' --none --format junit\n"
       "  coldtrace trace check run.etl --schemas app.man --expect 'provider == \"My-App\"'\n",
       "  0  all expectations are met\n"
       "  1  one is not met, or the trace has damage or loss\n"
       "  2  not a trace, it cannot be read or written, or an expression is wrong\n"},
      {"text", "json", "junit"},
      [](Command& command, TraceCheckOptions& options) {
        add_trace_input_options(command, options);
        command
            .add_option_function<std::string>(
                "--expect",
                [&options](const std::string& text) {
                  options.expectations.push_back({.text = text});
                },
                "Count the events that match; the bounds that follow apply to it")
            .type_name("EXPR")
            .in_order()
            .required();
        add_bound(command, options, "--min", &Expectation::min,
                  "Minimum number of events for the preceding --expect (default: 1)");
        add_bound(command, options, "--max", &Expectation::max,
                  "Maximum number of events for the preceding --expect");
        command
            .add_option_function<std::string>(
                "--none", [&options](const std::string&) { last_of(options, "--none").max = 0; },
                "Expect no event, as --max 0")
            .type_name("")
            .expected(0)
            .in_order();
        add_schema_options(command, options.schemas);
        add_parameters_option(command, options.schemas);
        add_tmf_option(command, options.schemas);
      },
      run_trace_check);
}

}  // namespace coldtrace::cli
