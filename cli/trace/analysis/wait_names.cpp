#include "cli/trace/analysis/wait_names.hpp"

#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/no_match.hpp"

namespace coldtrace::cli {

using trace_analysis::Index;
using trace_analysis::Moment;
using trace_analysis::nobody;
using trace_analysis::ObjectIndex;

WaitNames::WaitNames(const tracefile::AnyTrace& trace, const trace_analysis::Observed& observed,
                     const trace_analysis::WaitObjects& objects)
    : population_{observed.population},
      objects_{objects},
      clock_{trace.clock()},
      times_{trace.clock(), observed.first},
      images_{trace.names()},
      first_{observed.first.value_or(0)} {}

std::string WaitNames::thread(Index index) const {
  const auto& thread = population_.threads()[index];
  if (thread.idle_of) return fmt::format("the idle thread of processor {}", *thread.idle_of);
  auto text = fmt::format("thread {}", thread.tid);
  if (thread.process == nobody) return text;
  const auto& process = population_.processes()[thread.process];
  return fmt::format("{} of {} ({})", text,
                     process.image_name.empty() ? "process" : printable(process.image_name),
                     process.pid);
}

std::string WaitNames::object(ObjectIndex index) const {
  const auto& object = objects_.all()[index];
  if (object.thread != nobody) return thread(object.thread);
  return fmt::format("{} {:#x}", kind(object), object.waited.address);
}

std::string WaitNames::function(Index index) const {
  const auto& thread = population_.threads()[index];
  if (!thread.name.empty()) return thread.name;
  if (thread.start_address == 0) return {};
  std::optional<u32> pid;
  if (thread.process != nobody) pid = population_.processes()[thread.process].pid;
  const auto name = images_.find(pid, thread.start_address, thread.life.start.value_or(first_));
  return name.empty() ? fmt::format("{:#x}", thread.start_address) : name;
}

std::string WaitNames::kind(const trace_analysis::WaitObjects::Object& object) {
  std::string kind{to_string(object.waited.kind)};
  return object.calls ? fmt::format("{} ({})", kind, reason(*object.calls)) : kind;
}

std::string WaitNames::reason(u8 reason) {
  const auto name = trace_analysis::wait_reason_name(reason);
  return name.empty() ? fmt::format("reason {}", reason) : std::string{name};
}

u64 WaitNames::duration(u64 ticks) const {
  constexpr u64 most = std::numeric_limits<i64>::max();
  const auto length = clock_.to_duration(static_cast<i64>(std::min(ticks, most)));
  return length > 0 ? static_cast<u64>(length) : 0;
}

std::string WaitNames::seconds(u64 ticks) const {
  const auto length = duration(ticks);
  return fmt::format("{}.{:07} s", length / 10'000'000, length % 10'000'000);
}

std::string WaitNames::moment(const Moment& moment) const {
  return fmt::format("{} (event at {:#x}+{:#x})", since_start(moment.time), moment.place.buffer,
                     moment.place.offset);
}

void WaitNames::write_moment(JsonWriter& json, std::string_view time_name,
                             std::string_view event_name,
                             const std::optional<Moment>& moment) const {
  json.field(time_name, moment ? times_.utc(moment->time) : std::nullopt).key(event_name);
  if (moment)
    json.begin_object()
        .field("buffer", moment->place.buffer)
        .field("offset", moment->place.offset)
        .end_object();
  else
    json.value(nullptr);
}

void WaitNames::write_thread(JsonWriter& json, Index index) const {
  const auto& thread = population_.threads()[index];
  std::optional<u32> pid;
  std::optional<std::string> process, object;
  if (thread.process != nobody) {
    pid = population_.processes()[thread.process].pid;
    const auto& name = population_.processes()[thread.process].image_name;
    if (!name.empty()) process = name;
  }
  if (thread.object != 0) object = fmt::format("{:#x}", thread.object);
  const auto function = this->function(index);
  json.begin_object()
      .field("id", index)
      .field("tid", thread.tid)
      .field("pid", pid)
      .field("process", process)
      .field("start", times_.utc(thread.life.start))
      .field("function", function.empty() ? std::nullopt : std::optional{function})
      .field("object", object)
      .field("idle_processor", thread.idle_of)
      .end_object();
}

void WaitNames::write_object(JsonWriter& json, ObjectIndex index) const {
  const auto& object = objects_.all()[index];
  std::optional<std::string> calls;
  if (object.calls) calls = reason(*object.calls);
  json.begin_object()
      .field("id", index)
      .field("type", to_string(object.waited.kind))
      .field("address", fmt::format("{:#x}", object.waited.address))
      .field("calls", calls)
      .field("thread", number_or_null(object.thread))
      .end_object();
}

std::vector<Index> find_processes(const trace_analysis::Population& population,
                                  const std::string& wanted, core::Findings& findings) {
  const auto& processes = population.processes();
  std::optional<u32> pid;
  u32 number = 0;
  const auto parsed = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  if (parsed.ec == std::errc{} && parsed.ptr == wanted.data() + wanted.size()) pid = number;
  std::vector<Index> found;
  std::vector<std::string_view> names;
  for (Index i = 0; i < processes.size(); ++i) {
    names.push_back(processes[i].image_name);
    if (pid ? processes[i].pid == *pid
            : glob_matches(wanted, processes[i].image_name, GlobCase::insensitive))
      found.push_back(i);
  }
  if (found.empty()) {
    core::NoMatch unmatched;
    unmatched.add("--process", wanted, names);
    unmatched.report(findings);
  }
  return found;
}

std::optional<u64> number_or_null(Index index) {
  if (index == nobody) return std::nullopt;
  return index;
}

}  // namespace coldtrace::cli
