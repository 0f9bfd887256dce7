#include "cli/trace/analysis/threads/priority_tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/layout/text_table.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {

using trace_analysis::find_lower_ran;
using trace_analysis::Index;
using trace_analysis::nobody;
using trace_analysis::PriorityCause;
using trace_analysis::PriorityStep;
using trace_analysis::RowOrder;
using trace_analysis::ThreadPriorities;

namespace {

constexpr std::size_t inversions_in_text = 50;

const ThreadPriorities::CauseSum& sum_of(const ThreadPriorities& thread, PriorityCause cause) {
  return thread.causes[static_cast<std::size_t>(cause)];
}

u64 steps_of(const ThreadPriorities& thread, std::initializer_list<PriorityCause> causes) {
  u64 steps = 0;
  for (const auto cause : causes) steps += sum_of(thread, cause).steps;
  return steps;
}

}  // namespace

// --- what is told of

std::vector<Index> PriorityTables::threads() const {
  const auto& all = priorities_.threads();
  std::vector<Index> threads;
  for (Index i = 0; i < all.size(); ++i)
    if ((all[i].first || all[i].base) && chosen_(i)) threads.push_back(i);
  return threads;
}

std::vector<Index> PriorityTables::threads(RowOrder order) const {
  auto all = threads();
  trace_analysis::sort_by_priority(all, priorities_, inversions_, order);
  return all;
}

std::vector<const PriorityTables::Inversion*> PriorityTables::inversions() const {
  std::vector<const Inversion*> chosen;
  for (const auto& one : inversions_.inversions())
    if (chosen_(one.high) || chosen_(one.low) ||
        std::ranges::any_of(one.between,
                            [&](const auto& owner) { return chosen_(owner.thread); }) ||
        std::ranges::any_of(one.middles,
                            [&](const auto& middle) { return chosen_(middle.thread); }))
      chosen.push_back(&one);
  return chosen;
}

// --- JSON

void PriorityTables::write_json(Int64 int64, std::optional<RowOrder> order) const {
  JsonWriter json{output_, int64};
  json.begin_object().field("schema", "coldtrace.trace-priority/1").field("tool", tool_version);
  write_observed(json, input_.trace, observed_);
  json.field("names_objects", inversions_.names_objects())
      .field("more_steps", priorities_.more_steps() + priorities_.changes_left_out());
  write_nodes(json);
  json.key("priorities").begin_array();
  for (const auto thread : order ? threads(*order) : threads()) write_thread(json, thread);
  json.end_array().key("steps").begin_array();
  for (const auto& step : priorities_.steps())
    if (chosen_(step.thread)) write_step(json, step);
  json.end_array().key("inversions").begin_array();
  for (const auto* const one : inversions()) write_inversion(json, *one);
  json.end_array().key("findings");
  write_findings(json, input_.findings);
  json.end_object().end_document();
}

void PriorityTables::write_nodes(JsonWriter& json) const {
  std::vector<bool> named(observed_.population.threads().size());
  std::vector<bool> objects(inversions_.objects().all().size());
  const auto name = [&](Index thread) {
    if (thread != nobody) named[thread] = true;
  };
  for (const auto thread : threads()) {
    name(thread);
    if (const auto* const lower = find_lower_ran(inversions_, thread)) name(lower->other);
  }
  for (const auto& step : priorities_.steps())
    if (chosen_(step.thread)) name(step.by);
  for (const auto* const one : inversions()) {
    name(one->high);
    name(one->low);
    objects[one->object] = true;
    for (const auto& owner : one->between) {
      name(owner.thread);
      objects[owner.object] = true;
    }
    for (const auto& middle : one->middles) name(middle.thread);
  }
  json.key("threads").begin_array();
  for (Index i = 0; i < named.size(); ++i)
    if (named[i]) names_.write_thread(json, i);
  json.end_array().key("objects").begin_array();
  for (trace_analysis::ObjectIndex i = 0; i < objects.size(); ++i)
    if (objects[i]) names_.write_object(json, i);
  json.end_array();
}

void PriorityTables::write_thread(JsonWriter& json, Index thread) const {
  const auto& one = priorities_.threads()[thread];
  json.begin_object()
      .field("thread", thread)
      .field("first", names_.times().utc(one.first))
      .field("last", names_.times().utc(one.last))
      .field("first_priority", one.first_priority)
      .field("last_priority", one.last_priority)
      .field("base", one.base)
      .key("bases")
      .begin_array();
  for (unsigned i = 0; i < 32; ++i)
    if ((one.bases >> i & 1U) != 0) json.value(i);
  json.end_array().key("levels").begin_array();
  for (const auto& level : one.levels)
    json.object("priority", level.priority, "duration", names_.duration(level.time));
  json.end_array()
      .field("changing", names_.duration(one.changing))
      .field("unknown", names_.duration(one.unknown))
      .field("changes", one.steps)
      .key("causes")
      .begin_array();
  for (std::size_t i = 0; i < one.causes.size(); ++i) {
    const auto& sum = one.causes[i];
    if (sum.events == 0 && sum.steps == 0) continue;
    json.object("cause", to_string(static_cast<PriorityCause>(i)), "events", sum.events,
                "increments", sum.increments, "steps", sum.steps, "levels", sum.levels);
  }
  json.end_array().key("lower_ran");
  write_lower_ran(json, find_lower_ran(inversions_, thread));
  json.end_object();
}

void PriorityTables::write_lower_ran(JsonWriter& json, const LowerRan* one) const {
  if (one == nullptr) {
    json.value(nullptr);
    return;
  }
  json.begin_object()
      .field("count", one->count)
      .field("duration", names_.duration(one->time))
      .field("longest", names_.duration(one->longest))
      .field("longest_from", names_.times().utc(one->longest_from))
      .key("longest_event");
  write_place(json, one->longest_since);
  json.field("priority", one->priority)
      .field("other", number_or_null(one->other))
      .field("other_priority", one->other_priority)
      .field("cpu", one->cpu)
      .end_object();
}

void PriorityTables::write_step(JsonWriter& json, const PriorityStep& step) const {
  json.begin_object()
      .field("thread", step.thread)
      .field("time", names_.times().utc(step.time()))
      .field("before", step.before)
      .field("now", step.now)
      .field("base", step.base)
      .field("cause", to_string(step.cause))
      .field("increment", step.increment)
      .field("by", number_or_null(step.by));
  json.key("told_event");
  write_place(json, step.told ? std::optional{step.told->place} : std::nullopt);
  json.field("before_at", names_.times().utc(step.before_at))
      .field("shown_by", to_string(step.shown_by));
  names_.write_moment(json, "shown_at", "shown_event", step.shown);
  json.end_object();
}

void PriorityTables::write_inversion(JsonWriter& json, const Inversion& one) const {
  json.begin_object()
      .field("high", one.high)
      .field("high_priority", one.high_priority)
      .field("low", one.low)
      .field("low_priority", one.low_priority)
      .field("object", one.object);
  names_.write_moment(json, "waits_since", "wait_event", one.waits_since);
  json.field("waits_until", names_.times().utc(one.waits_until)).key("between").begin_array();
  for (const auto& owner : one.between) {
    json.begin_object().field("thread", owner.thread);
    names_.write_moment(json, "owned_since", "owned_event", owner.owned_since);
    json.field("object", owner.object);
    names_.write_moment(json, "waits_since", "wait_event", owner.waits_since);
    json.end_object();
  }
  json.end_array();
  names_.write_moment(json, "owned_since", "owned_event", one.owned_since);
  json.field("from", names_.times().utc(one.from)).key("ready_event");
  write_place(json, one.ready_at);
  json.field("to", names_.times().utc(one.to))
      .field("duration", names_.duration(one.time))
      .field("stretches", one.stretches)
      .key("middles")
      .begin_array();
  for (const auto& middle : one.middles) {
    json.begin_object()
        .field("thread", middle.thread)
        .field("priority", middle.priority)
        .field("cpu", middle.cpu);
    names_.write_moment(json, "since", "event", middle.since);
    json.field("duration", names_.duration(middle.time)).end_object();
  }
  json.end_array().end_object();
}

// --- text

void PriorityTables::write_text(u64 top, bool each_change, std::optional<RowOrder> order) const {
  const auto all = threads(order.value_or(RowOrder::count));
  TextTable table{output_,
                  {{"thread", 7},
                   {"base", 4},
                   {"changes", 8},
                   {"raised", 7},
                   {"decayed", 7},
                   {"set", 7},
                   {"not told", 8},
                   {"changing", 14},
                   {"unknown", 14}},
                  "process, time at each priority"};
  const auto shown = std::min<std::size_t>(all.size(), top);
  for (std::size_t i = 0; i < shown; ++i) add_thread(table, all[i]);
  table.finish();
  if (shown < all.size())
    print(output_, "{}\n", counted(all.size() - shown, "more thread", "more threads"));
  output_.write("\n");
  write_change_lines(std::span{all}.first(shown));
  if (each_change) write_steps();
  write_inversions();
  write_lower_lines(top, order.value_or(RowOrder::time));
}

void PriorityTables::write_inversions() const {
  const auto found = inversions();
  if (!inversions_.names_objects())
    output_.write(
        "The trace does not name what threads wait for, so no inversions can be found.\n");
  else if (found.empty())
    output_.write("No priority inversion was found.\n");
  for (std::size_t i = 0; i < std::min(found.size(), inversions_in_text); ++i)
    write_story(i + 1, *found[i]);
  if (found.size() > inversions_in_text)
    print(output_, "{}\n",
          counted(found.size() - inversions_in_text, "more inversion", "more inversions"));
}

void PriorityTables::add_thread(TextTable& table, Index index) const {
  const auto& one = priorities_.threads()[index];
  const auto& thread = observed_.population.threads()[index];
  using C = PriorityCause;
  auto label = names_.process(thread.process);
  for (const auto& level : one.levels)
    fmt::format_to(std::back_inserter(label), ", {}: {}", level.priority,
                   names_.times().text(level.time));
  table.add(std::move(label), thread.tid, one.base ? fmt::format("{}", *one.base) : "-",
            grouped(one.steps),
            grouped(steps_of(one, {C::unwait, C::boost, C::auto_boost, C::starvation})),
            grouped(steps_of(one, {C::decay})), grouped(steps_of(one, {C::set, C::base_set})),
            grouped(steps_of(one, {C::not_told})), names_.times().text(one.changing),
            names_.times().text(one.unknown));
}

// What the columns of the first table leave out.
void PriorityTables::write_change_lines(std::span<const Index> shown) const {
  if (shown.empty()) return;
  output_.write("Base priorities seen, first and last priority, and causes:\n");
  for (const auto index : shown) {
    const auto& one = priorities_.threads()[index];
    std::vector<unsigned> bases;
    for (unsigned i = 0; i < 32; ++i)
      if ((one.bases >> i & 1U) != 0) bases.push_back(i);
    print(output_, "{:>7}  base {}", observed_.population.threads()[index].tid,
          bases.empty() ? "-" : fmt::format("{}", fmt::join(bases, ", ")));
    if (one.first_priority && one.last_priority)
      print(output_, "; {} at {}, {} at {}", *one.first_priority, names_.since_start(*one.first),
            *one.last_priority, names_.since_start(*one.last));
    output_.write("\n");
    write_causes(index);
  }
  output_.write("\n");
}

void PriorityTables::write_causes(Index index) const {
  const auto& causes = priorities_.threads()[index].causes;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const auto& sum = causes[i];
    if (sum.events == 0 && sum.steps == 0) continue;
    print(output_, "         {}: changes {}, levels {}, events {}, increments {}\n",
          to_string(static_cast<PriorityCause>(i)), grouped(sum.steps), grouped(sum.levels),
          grouped(sum.events), sum.increments);
  }
}

void PriorityTables::write_steps() const {
  output_.write("Changes:\n");
  for (const auto& step : priorities_.steps()) {
    if (!chosen_(step.thread)) continue;
    print(output_, "{:>14}  {}: {} to {}, base {}, {}", names_.since_start(step.time()),
          names_.thread(step.thread), step.before, step.now,
          step.base ? fmt::format("{}", *step.base) : "-", to_string(step.cause));
    if (step.increment) print(output_, ", increment {}", *step.increment);
    if (step.by != nobody) print(output_, ", by {}", names_.thread(step.by));
    if (step.told) print(output_, ", recorded at {}", names_.moment(*step.told));
    print(output_, ", {} last at {}, {} shown by {} {}\n", step.before,
          names_.since_start(step.before_at), step.now, to_string(step.shown_by),
          names_.moment(step.shown));
  }
  output_.write("\n");
}

void PriorityTables::write_story(std::size_t number, const Inversion& one) const {
  print(output_, "Inversion {}: {} (priority {}) waited for {}, whose owner did not run, {}\n",
        number, names_.thread(one.high), one.high_priority, names_.object(one.object),
        names_.duration_text(one.time));
  print(output_, "  It has waited since {}{}\n", names_.moment(one.waits_since),
        one.waits_until ? " until " + names_.since_start(*one.waits_until)
                        : ", to the end of the trace");
  for (const auto& owner : one.between)
    print(output_, "  The owner, {}, took it at {} and has waited since {} for {}\n",
          names_.thread(owner.thread), names_.moment(owner.owned_since),
          names_.moment(owner.waits_since), names_.object(owner.object));
  print(output_, "  The owner{}, {}, took it at {}\n", one.between.empty() ? "" : " of that",
        names_.thread(one.low), names_.moment(one.owned_since));
  print(output_,
        "  That thread (priority {}) was ready from the event at {:#x}+{:#x} on, but did not run "
        "from {} to {}{}\n",
        one.low_priority, one.ready_at.buffer, one.ready_at.offset, names_.since_start(one.from),
        names_.since_start(one.to),
        one.stretches > 1 ? fmt::format(", in {} stretches", grouped(one.stretches)) : "");
  for (const auto& middle : one.middles)
    print(output_, "  Meanwhile {} (priority {}) ran {}, on processor {} since {}\n",
          names_.thread(middle.thread), middle.priority, names_.duration_text(middle.time),
          middle.cpu, names_.moment(middle.since));
  output_.write("\n");
}

void PriorityTables::write_lower_lines(u64 top, RowOrder order) const {
  const auto all = trace_analysis::sorted_by_lower_ran(threads(), inversions_, order);
  if (all.empty()) return;
  output_.write(
      "\nReady while a processor that they may use ran a thread of lower priority, for at "
      "least:\n");
  TextTable table{output_,
                  {{"thread", 7}, {"times", 9}, {"in all", 14}, {"longest", 14}},
                  "process, longest time"};
  const auto shown = std::min<std::size_t>(all.size(), top);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& one = *find_lower_ran(inversions_, all[i]);
    const auto& thread = observed_.population.threads()[all[i]];
    table.add(fmt::format("{}: with {} since {} (event at {:#x}+{:#x}), when {} with {} ran on "
                          "processor {}",
                          names_.process(thread.process), one.priority,
                          names_.since_start(one.longest_from), one.longest_since.buffer,
                          one.longest_since.offset, names_.thread(one.other),
                          one.other_priority.value_or(0), one.cpu),
              thread.tid, grouped(one.count), names_.times().text(one.time),
              names_.times().text(one.longest));
  }
  table.finish();
  if (shown < all.size())
    print(output_, "{}\n", counted(all.size() - shown, "more thread", "more threads"));
}

}  // namespace coldtrace::cli
