#include "cli/trace/export/schedule_tables.hpp"

#include <algorithm>
#include <utility>

#include "cli/output/exact_text.hpp"
#include "cli/trace/export/event_tables.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"
#include "coldtrace/trace_analysis/processes/chosen_threads.hpp"
#include "coldtrace/trace_analysis/processes/process_tree.hpp"
#include "coldtrace/trace_analysis/records/observation.hpp"
#include "coldtrace/trace_analysis/records/records.hpp"
#include "coldtrace/trace_analysis/scheduling/turns.hpp"
#include "coldtrace/tracefile/events/sequence_findings.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::Before;
using trace_analysis::Index;
using trace_analysis::nobody;
using trace_analysis::Turn;

std::optional<i64> known(Index index) {
  return index == nobody ? std::nullopt : std::optional{i64{index}};
}

// Remembers the last switch: the state of the thread that a turn ends with.
class LastSwitch final : public trace_analysis::Analysis {
 public:
  void on_switch(const trace_analysis::ContextSwitch& record) override { last_ = record; }

  std::optional<trace_analysis::ThreadState> state_after(const Turn& turn) const {
    const bool ends = last_ && turn.end == last_->moment.time && turn.cpu == last_->moment.cpu;
    return ends ? last_->old_state : std::nullopt;
  }

 private:
  std::optional<trace_analysis::ContextSwitch> last_;
};

// Writes turns as they end, and what came before each.
class TurnTables {
 public:
  TurnTables(SqliteFile& file, const tracefile::Clock& clock,
             const trace_analysis::Population& population, const LastSwitch& last,
             const tracefile::EventSelection& selection)
      : clock_{clock},
        population_{population},
        last_{last},
        chosen_{selection},
        turns_{file, "sched", 7},
        states_{file, "thread_state", 8} {}

  void add(const Turn& turn) {
    if (!is_wanted(turn.thread)) return;
    const auto begin = nanoseconds(turn.begin);
    turns_.maybe(begin)
        .maybe(duration(turn.begin, turn.end))
        .integer(turn.cpu)
        .integer(turn.thread);
    const auto state = last_.state_after(turn);
    turns_.text_or_null(state ? to_string(*state) : std::string_view{});
    turns_.maybe(turn.in_priority).maybe(turn.out_priority).insert();
    add_before(turn);
    add_state(turn.begin, turn.end, turn.cpu, turn.thread, "Running", {}, nobody);
  }

  // What a thread does that is on no processor when the trace ends: until then, at least.
  void add_standing(Index thread, const trace_analysis::Standing& standing) {
    using Where = trace_analysis::Standing::Where;
    if (!standing.since || !is_wanted(thread)) return;
    const auto state = standing.where == Where::waiting   ? "Waiting"
                       : standing.where == Where::ready   ? "Ready"
                       : standing.where == Where::created ? "Created"
                       : standing.where == Where::off     ? "Off processor"
                       : standing.where == Where::swapped ? "Swapped out"
                                                          : "";
    if (*state != '\0')
      add_state(*standing.since, {}, {}, thread, state, standing.wait_reason, nobody);
  }

 private:
  bool is_wanted(Index thread) const { return chosen_.has(population_, thread); }

  // As absence_before() divides it.
  void add_before(const Turn& turn) {
    if (population_.threads()[turn.thread].idle_of) return;
    const auto add = [&](std::optional<i64> from, std::optional<i64> to, std::string_view state,
                         Index waker) {
      const bool waits = state == "Waiting" || state == "Off processor";
      if (from)
        add_state(*from, to, {}, turn.thread, state, waits ? turn.wait_reason : std::nullopt,
                  waker);
    };
    switch (turn.before) {
      case Before::waiting:
        add(turn.left, turn.readied, "Waiting", nobody);
        add(turn.readied, turn.begin, "Ready", turn.waker);
        break;
      case Before::created:
        add(turn.left, turn.readied.value_or(turn.begin),
            turn.readied ? "Created" : "Off processor", nobody);
        add(turn.readied, turn.begin, "Ready", turn.waker);
        break;
      case Before::first:
        add(turn.readied, turn.begin, "Ready", turn.waker);
        break;
      case Before::ready:
        add(turn.left, turn.begin, "Ready", turn.waker);
        break;
      case Before::off:
        add(turn.left, turn.begin, "Off processor", nobody);
        break;
      case Before::swapped:
        add(turn.left, turn.begin, "Swapped out", nobody);
        break;
      case Before::unknown:
        break;
    }
  }

  void add_state(i64 begin, std::optional<i64> end, std::optional<u16> cpu, Index thread,
                 std::string_view state, std::optional<u8> reason, Index waker) {
    states_.maybe(nanoseconds(begin))
        .maybe(duration(begin, end))
        .maybe(cpu)
        .integer(thread)
        .text(state)
        .maybe(reason);
    if (reason)
      states_.text_or_null(trace_analysis::wait_reason_name(*reason));
    else
      states_.null();
    states_.maybe(known(waker)).insert();
  }

  std::optional<i64> nanoseconds(i64 ticks) const {
    return unix_nanoseconds(clock_.find_file_time(ticks));
  }

  std::optional<i64> duration(i64 begin, std::optional<i64> end) const {
    if (!end) return std::nullopt;
    const auto from = nanoseconds(begin), to = nanoseconds(*end);
    // A clock that is wrong leads anywhere.
    i64 passed = 0;
    if (!from || !to || __builtin_sub_overflow(*to, *from, &passed)) return std::nullopt;
    return passed;
  }

  const tracefile::Clock& clock_;
  const trace_analysis::Population& population_;
  const LastSwitch& last_;
  const trace_analysis::ChosenThreads chosen_;
  SqliteRows turns_;
  SqliteRows states_;
};

void write_population(SqliteFile& file, const trace_analysis::Population& population,
                      const tracefile::Clock& clock) {
  const auto time = [&](std::optional<i64> ticks) {
    return ticks ? unix_nanoseconds(clock.find_file_time(*ticks)) : std::nullopt;
  };
  const trace_analysis::ProcessTree tree{population};
  SqliteRows processes{file, "process", 7};
  for (std::size_t i = 0; i < population.processes().size(); ++i) {
    const auto& process = population.processes()[i];
    processes.integer(static_cast<i64>(i))
        .integer(process.pid)
        .text_or_null(distinct_text(process.image_name))
        .maybe(time(process.life.start))
        .maybe(time(process.life.end))
        .maybe(known(tree.parent_of(static_cast<Index>(i))))
        .text_or_null(distinct_text(process.command_line))
        .insert();
  }
  SqliteRows threads{file, "thread", 7};
  for (std::size_t i = 0; i < population.threads().size(); ++i) {
    const auto& thread = population.threads()[i];
    threads.integer(static_cast<i64>(i))
        .integer(thread.tid)
        .text_or_null(distinct_text(thread.name))
        .maybe(time(thread.life.start))
        .maybe(time(thread.life.end))
        .maybe(known(thread.process))
        .maybe(thread.idle_of)
        .insert();
  }
}

}  // namespace

void write_schedule_tables(SqliteFile& file, TraceInput& input,
                           const tracefile::EventSelection& selection) {
  const auto& trace = input.trace;
  file.run(
      "CREATE TABLE process(upid INTEGER PRIMARY KEY, pid INTEGER NOT NULL, name TEXT, start_ts "
      "INTEGER, end_ts INTEGER, parent_upid INTEGER REFERENCES process, cmdline TEXT) STRICT;"
      "CREATE TABLE thread(utid INTEGER PRIMARY KEY, tid INTEGER NOT NULL, name TEXT, start_ts "
      "INTEGER, end_ts INTEGER, upid INTEGER REFERENCES process, idle_cpu INTEGER) STRICT;"
      "CREATE TABLE sched(ts INTEGER, dur INTEGER, cpu INTEGER NOT NULL, utid INTEGER NOT NULL "
      "REFERENCES thread, end_state TEXT, priority INTEGER, end_priority INTEGER) STRICT;"
      "CREATE TABLE thread_state(ts INTEGER, dur INTEGER, cpu INTEGER, utid INTEGER NOT NULL "
      "REFERENCES thread, state TEXT NOT NULL, wait_reason INTEGER, wait_reason_name TEXT, "
      "waker_utid INTEGER REFERENCES thread) STRICT");
  // Ids would mean threads of several machines.
  if (!trace.is_one_run()) return;
  tracefile::StreamOptions stream;
  limit_to_times(selection, trace.clock(), stream);
  trace_analysis::Observation observation{trace, stream};
  LastSwitch last;
  TurnTables tables{file, trace.clock(), observation.population(), last, selection};
  trace_analysis::Turns turns{[&](const Turn& turn) { tables.add(turn); }};
  trace_analysis::Analysis* const analyses[] = {&last, &turns};
  observation.run(analyses);
  for (Index thread = 0; thread < observation.population().threads().size(); ++thread)
    tables.add_standing(thread, turns.standing(thread));
  write_population(file, observation.population(), trace.clock());
  file.run(
      "CREATE INDEX process_by_pid ON process(pid); CREATE INDEX thread_by_tid ON thread(tid);"
      "CREATE INDEX thread_by_process ON thread(upid);"
      "CREATE INDEX sched_by_thread ON sched(utid, ts); CREATE INDEX sched_by_cpu ON sched(cpu, "
      "ts);"
      "CREATE INDEX thread_state_by_thread ON thread_state(utid, ts)");
  tracefile::note_unread_buffers(observation.unread_buffers(), input.findings);
  trace_analysis::note_observation(observation, input.findings);
  trace_analysis::note_ready_events(turns.counts(), {}, input.findings);
  trace_analysis::note_overlaps(turns.counts(), input.findings);
}

}  // namespace coldtrace::cli
