#include "cli/command/report.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/command/finding_tally.hpp"
#include "cli/output/messages.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/temporary_file.hpp"

namespace coldtrace::cli {
namespace {

FindingTally* findings_of_all = nullptr;
Exit exit_of_broken_run = Exit::ok;

bool contains(const std::vector<std::string>& codes, std::string_view code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

// The reason is the folder, not the input whose bytes were to be there.
std::string temporary_file_message(const core::ParseError& error) {
  auto message =
      fmt::format("a temporary file in {} (TMPDIR) cannot be {}: {}", core::temporary_folder(),
                  error.field.view() == "open"    ? "created"
                  : error.field.view() == "write" ? "written"
                                                  : "read",
                  std::generic_category().message(static_cast<int>(error.found)));
  note_unwritable(message);
  return message;
}

}  // namespace

void tally_findings(FindingTally* tally) {
  findings_of_all = tally;
}

bool FindingPolicy::fails(const core::Finding& finding) const {
  if (contains(fail_on, finding.code.view())) return true;
  return finding.severity == core::Severity::warning && !contains(tolerate, finding.code.view());
}

Exit broken_run_exit() {
  return std::exchange(exit_of_broken_run, Exit::ok);
}

Report::~Report() {
  const bool is_broken = std::uncaught_exceptions() > 0;
  if (is_broken ? !has_reader_left() : informational_.empty() || policy_.quiet) return;
  try {
    if (is_broken) {
      for (const auto& [path, findings] : begun_) tell(path, findings);
      exit_of_broken_run = std::min(exit(), Exit::findings);
      return;
    }
    std::string codes;
    for (const auto& [code, count] : informational_)
      codes += fmt::format("{}{} {}", codes.empty() ? "" : ", ", count, code);
    cli::say(fmt::format("coldtrace: informational findings (-v shows them): {}\n", codes));
  } catch (const std::bad_alloc&) {  // no destructor may throw
    cli::say("coldtrace: out of memory while counting informational findings; -v shows them\n");
  }
}

void Report::begin(std::string_view path, const core::Findings& findings) {
  begun_.emplace_back(path, findings);
}

void Report::read(std::string_view path, const core::Findings& findings) {
  ++inputs_read_;
  std::erase_if(begun_, [&](const auto& begun) { return begun.first == path; });
  tell(path, findings);
}

void Report::tell(std::string_view path, const core::Findings& findings) {
  for (const auto& finding : findings.all()) {
    if (findings_of_all != nullptr)
      (*findings_of_all)[{std::string{finding.code.view()},
                          std::string{to_string(finding.severity)}}] += finding.count;
    const bool fails = policy_.fails(finding);
    if (fails) worst_ = Exit::findings;
    if (policy_.quiet) continue;
    if (fails || finding.severity == core::Severity::warning || policy_.verbose)
      say(path, finding);
    else
      informational_[std::string{finding.code.view()}] += finding.count;
  }
}

void Report::say(std::string_view path, const core::Finding& finding) const {
  const auto place =
      finding.first_offset ? fmt::format(" at {:#x}", *finding.first_offset) : std::string{};
  const auto times = finding.count > 1 ? fmt::format(" (the first of {})", finding.count) : "";
  cli::say(fmt::format("{}: {}: {}{}: {}{}\n", printable(path), to_string(finding.severity),
                       finding.code.view(), place, printable(finding.text), times));
}

void Report::failed(std::string_view path, std::string_view message) {
  failed_.push_back({std::string{path}, std::string{message}});
  cli::say(fmt::format("coldtrace: {}: {}\n", printable(path), printable(message)));
}

void Report::failed(std::string_view path, const core::ParseError& error) {
  failed(path, to_message(error));
}

Exit Report::exit() const {
  if (!failed_.empty()) return inputs_read_ == 0 ? Exit::failure : Exit::findings;
  return worst_;
}

std::string to_message(const core::ParseError& error) {
  if (error.fault == core::Fault::io && error.structure.view() == "temporary file")
    return temporary_file_message(error);
  if (error.fault == core::Fault::io && error.found == ESPIPE)
    return "not seekable: save it to a file first";
  if (error.fault == core::Fault::io && error.found == EBADF) return "it is closed";
  if (error.fault == core::Fault::io && error.offset == 0)
    return std::generic_category().message(static_cast<int>(error.found));
  if (error.fault == core::Fault::missing && error.structure.view() == "/proc")
    return "such an image is read through /proc, and /proc is not mounted; save it to a file, "
           "unpacked, first";
  if (error.fault == core::Fault::limit && error.structure.view() == "pipe")
    return fmt::format("more than the {} bytes that are read from a pipe", error.expected);
  if (error.fault == core::Fault::limit && error.structure.view() == "file")
    return fmt::format("larger than the {} bytes that are read", error.expected);
  return core::to_string(error);
}

void write_findings(JsonWriter& json, const core::Findings& findings) {
  json.begin_array();
  for (const auto& finding : findings.all()) {
    json.begin_object()
        .field("code", finding.code.view())
        .field("severity", to_string(finding.severity))
        .field("count", finding.count)
        .field("first_offset", finding.first_offset)
        .field("text", finding.text)
        .end_object();
  }
  json.end_array();
}

void write_failed_inputs(JsonWriter& json, const std::vector<FailedInput>& failed) {
  json.begin_array();
  for (const auto& input : failed) json.object("file", MaybeText{input.file}, "error", input.error);
  json.end_array();
}

}  // namespace coldtrace::cli
