#include "cli/trace/analysis/thread_names.hpp"

#include <charconv>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/no_match.hpp"

namespace coldtrace::cli {

using trace_analysis::Index;
using trace_analysis::Moment;
using trace_analysis::nobody;

ThreadNames::ThreadNames(const tracefile::AnyTrace& trace, const trace_analysis::Observed& observed,
                         trace_analysis::FunctionNames& functions)
    : population_{observed.population},
      times_{trace.clock(), observed.first},
      functions_{functions},
      first_{observed.first.value_or(0)} {}

std::string ThreadNames::thread(Index index) const {
  const auto& thread = population_.threads()[index];
  if (thread.idle_of) return fmt::format("the idle thread of processor {}", *thread.idle_of);
  if (thread.process == nobody) return fmt::format("thread {}", thread.tid);
  return fmt::format("thread {} of {}", thread.tid, process(thread.process));
}

std::string process_name(const trace_analysis::Population& population, Index index) {
  if (index == nobody) return "-";
  const auto& process = population.processes()[index];
  return fmt::format("{} ({})", process.image_name.empty() ? "process" : process.image_name,
                     process.pid);
}

std::string process_text(const trace_analysis::Population& population, Index index) {
  return printable(process_name(population, index));
}

ThreadIds ids_of_process(const trace_analysis::Population& population, Index process) {
  if (process == nobody) return {};
  const auto& known = population.processes()[process];
  return {std::nullopt, known.pid, known.image_name};
}

ThreadIds ids_of(const trace_analysis::Population& population, Index thread) {
  if (thread == nobody) return {};
  const auto& known = population.threads()[thread];
  auto ids = ids_of_process(population, known.process);
  ids.tid = known.tid;
  return ids;
}

std::string ThreadNames::function(Index index) const {
  const auto& thread = population_.threads()[index];
  if (!thread.name.empty()) return thread.name;
  auto function = start_function(index);
  if (!function.empty() || thread.start_address == 0) return function;
  return fmt::format("{:#x}", thread.start_address);
}

std::string ThreadNames::start_function(Index index) const {
  const auto& thread = population_.threads()[index];
  if (thread.start_address == 0) return {};
  std::optional<u32> pid;
  if (thread.process != nobody) pid = population_.processes()[thread.process].pid;
  return functions_.find(pid, thread.start_address, thread.life.start.value_or(first_)).text();
}

std::string ThreadNames::code(std::optional<u32> pid, u64 address, i64 time) const {
  auto name = functions_.find(pid, address, time).text();
  return name.empty() ? fmt::format("{:#x}", address) : name;
}

std::string ThreadNames::moment(const Moment& moment) const {
  return fmt::format("{} (event at {:#x}+{:#x})", since_start(moment.time), moment.place.buffer,
                     moment.place.offset);
}

void ThreadNames::write_moment(JsonWriter& json, std::string_view time_name,
                               std::string_view event_name,
                               const std::optional<Moment>& moment) const {
  json.field(time_name, moment ? times_.utc(moment->time) : std::nullopt).key(event_name);
  write_place(json, moment ? std::optional{moment->place} : std::nullopt);
}

void ThreadNames::write_thread(JsonWriter& json, Index index) const {
  const auto& thread = population_.threads()[index];
  const auto ids = ids_of(population_, index);
  std::optional<std::string> object;
  if (thread.object != 0) object = fmt::format("{:#x}", thread.object);
  json.begin_object()
      .field("id", index)
      .field("tid", ids.tid)
      .field("pid", ids.pid)
      .field("process", ExactText{text_or_null(ids.process)})
      .field("start", times_.utc(thread.life.start))
      .field("function", ExactText{text_or_null(function(index))})
      .field("object", object)
      .field("idle_cpu", thread.idle_of)
      .end_object();
}

std::string wait_reason_text(u8 reason) {
  const auto name = trace_analysis::wait_reason_name(reason);
  return name.empty() ? fmt::format("reason {}", reason) : std::string{name};
}

void write_place(JsonWriter& json, const std::optional<trace_analysis::Place>& place) {
  if (!place) {
    json.value(nullptr);
    return;
  }
  json.begin_object().field("buffer", place->buffer).field("offset", place->offset).end_object();
}

std::optional<u64> number_or_null(Index index) {
  if (index == nobody) return std::nullopt;
  return index;
}

}  // namespace coldtrace::cli
