#include "cli/trace/trace_answers.hpp"

#include <array>

#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/status.hpp"

namespace coldtrace::cli {
namespace {

using Answers = tracefile::ScenarioAnswers;

// As events have them.
std::string to_address(u64 address) {
  return fmt::format("{:#x}", address);
}

template <class Items, class Write>
void write_array(JsonWriter& json, std::string_view name, const Items& items, Write write) {
  json.key(name).begin_array();
  for (const auto& item : items) write(item);
  json.end_array();
}

void write_process(JsonWriter& json, const Answers::Process& process) {
  json.begin_object()
      .field("pid", process.id)
      .field("parent_pid", process.parent)
      .field("image", process.image)
      .field("creator", process.creator)
      .field("created", process.created)
      .field("ended", process.ended)
      .key("exit_status");
  write_exit_status(json, process.exit_status);
  json.end_object();
}

void write_thread(JsonWriter& json, const Answers::Thread& thread) {
  json.begin_object()
      .field("process", thread.process)
      .field("tid", thread.id)
      .field("object", to_address(thread.object))
      .field("start_address", to_address(thread.start_address))
      .field("creator", thread.creator)
      .field("created", thread.created)
      .field("ended", thread.ended)
      .key("exit_status");
  write_exit_status(json, thread.exit_status);
  json.field("since", thread.since)
      .field("run", thread.run)
      .field("interrupted", thread.interrupted)
      .field("ready", thread.ready)
      .field("wait", thread.wait)
      .field("switches", thread.switches);
  write_array(json, "waits", thread.waits, [&](const auto& row) {
    json.object("reason", row.first, "count", row.second.count, "duration", row.second.time);
  });
  json.field("priority_changes", thread.priority_changes)
      .field("boosts", thread.boosts)
      .field("increments", thread.increments);
  write_array(json, "priorities", thread.priorities,
              [&](const auto& row) { json.object("priority", row.first, "duration", row.second); });
  json.key("open_wait");
  if (thread.open_wait)
    json.object("reason", thread.open_wait->reason, "since", thread.open_wait->since);
  else
    json.value(nullptr);
  json.end_object();
}

void write_scheduling(JsonWriter& json, const Answers& answers) {
  write_array(json, "processes", answers.processes,
              [&](const auto& process) { write_process(json, process); });
  write_array(json, "threads", answers.threads,
              [&](const auto& thread) { write_thread(json, thread); });
  write_array(json, "processors", answers.processors, [&](const auto& processor) {
    json.object("busy", processor.busy, "idle", processor.idle, "interrupted",
                processor.interrupted, "switches", processor.switches);
  });
}

void write_waits(JsonWriter& json, const Answers& answers) {
  write_array(json, "object_waits", answers.object_waits, [&](const auto& row) {
    json.object("thread", row.thread, "type", row.type, "object",
                std::string_view{to_address(row.object)}, "count", row.waits.count, "duration",
                row.waits.time);
  });
  write_array(json, "deadlocks", answers.deadlocks, [&](const auto& deadlock) {
    json.object("threads", deadlock.members, "victims", deadlock.victims, "closed", deadlock.closed,
                "ended", deadlock.ended);
  });
  write_array(json, "inversions", answers.inversions, [&](const auto& inversion) {
    json.begin_object().field("high", inversion.high).field("low", inversion.low);
    write_array(json, "between", inversion.between, [&](const auto& owner) { json.value(owner); });
    json.field("object", to_address(inversion.object))
        .field("from", inversion.from)
        .field("to", inversion.to)
        .field("duration", inversion.time);
    write_array(json, "middles", inversion.middles,
                [&](const auto& row) { json.object("thread", row.first, "duration", row.second); });
    json.end_object();
  });
}

void write_calls(JsonWriter& json, const Answers& answers) {
  constexpr std::array<std::string_view, 3> kinds = {"isr", "dpc", "timer_dpc"};
  write_array(json, "services", answers.services, [&](const auto& service) {
    json.object("number", service.number, "name_hash", service.name_hash, "calls", service.calls,
                "inclusive", service.inclusive, "exclusive", service.exclusive, "on_processor",
                service.on_processor, "open", service.open);
  });
  write_array(json, "routines", answers.routines, [&](const auto& routine) {
    json.object("kind", kinds[routine.kind], "address",
                std::string_view{to_address(routine.address)}, "count", routine.count, "inclusive",
                routine.inclusive, "exclusive", routine.exclusive);
  });
}

}  // namespace

void write_answers(JsonWriter& json, std::string_view scenario,
                   const tracefile::ScenarioOptions& options, const Answers& answers) {
  json.begin_object()
      .field("schema", "coldtrace.trace-answers/1")
      .field("tool", tool_version)
      .field("scenario", scenario)
      .field("seed", options.seed)
      .field("rounds", options.rounds)
      .field("start", core::to_string(answers.start))
      .field("elapsed", answers.elapsed);
  write_scheduling(json, answers);
  write_waits(json, answers);
  write_calls(json, answers);
  write_array(json, "disk_requests", answers.disk_requests, [&](const auto& request) {
    json.object("thread", request.thread, "irp", std::string_view{to_address(request.irp)}, "write",
                request.write, "offset", request.offset, "bytes", request.bytes, "start",
                request.start, "end", request.end);
  });
  write_array(json, "losses", answers.losses, [&](const auto& loss) {
    json.object("cpu", loss.processor, "from", loss.from, "to", loss.to);
  });
  json.end_object().end_document();
}

}  // namespace coldtrace::cli
