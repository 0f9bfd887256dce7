#pragma once

#include <cstdlib>
#include <limits>
#include <set>

#include "coldtrace/trace_analysis/processes/thread_graph.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "coldtrace/trace_analysis/waits/wait_graph_view.hpp"
#include "fixtures/builders/all_analyses.hpp"

namespace coldtrace::fuzz {

// What holds of the answers of analyses, whatever the events were.

using namespace trace_analysis;

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline void check(const ProcessTree& tree) {
  const auto& processes = tree.population().processes();
  std::size_t reached = 0;
  std::vector<Index> open{tree.roots().begin(), tree.roots().end()};
  while (!open.empty()) {
    const auto process = open.back();
    open.pop_back();
    require(++reached <= processes.size());
    const auto children = tree.children_of(process);
    open.insert(open.end(), children.begin(), children.end());
  }
  require(reached == processes.size());
}

inline void check(const Schedule& schedule) {
  for (const auto& [number, one] : schedule.processors())
    require(one.busy >= 0 && one.idle >= 0 && one.unknown >= 0);
  for (const auto& one : schedule.threads())
    require(one.running >= 0 && one.ready >= 0 && one.waiting >= 0 && one.unknown >= 0);
}

// Periods are parts of the whole, where there are any.
inline void check(const Services& services) {
  const auto& totals = services.totals();
  std::vector<u64> calls(services.services().size());
  for (const auto& [key, row] : totals.rows()) {
    calls[key.second] += row.calls;
    require(row.exclusive >= 0 && row.begun_before <= row.calls);
  }
  const bool whole = !totals.rows().empty() && totals.left_out() == 0;
  for (u32 i = 0; i < calls.size(); ++i) {
    const auto& one = services.services()[i];
    require(one.exclusive >= 0 && one.times.count() == one.calls);
    require(!whole || calls[i] == one.calls);
  }
}

// Each member waits for others of them, and nobody is both member and victim.
inline void check(const Deadlocks& deadlocks) {
  for (const auto& one : deadlocks.deadlocks()) {
    std::set<Index> members;
    for (const auto& member : one.members) members.insert(member.place.thread);
    require(members.size() == one.members.size() && members.size() > 1);
    for (const auto& member : one.members) {
      require(!member.place.steps.empty());
      for (const auto& step : member.place.steps) require(members.count(step.owner) != 0);
      require(!one.cycle || member.place.steps.size() == 1);
    }
    for (const auto& victim : one.victims) require(members.count(victim.place.thread) == 0);
  }
  for (const auto& inversion : deadlocks.inversions()) {
    std::set<Index> threads;
    for (const auto& witness : inversion.witnesses) threads.insert(witness.thread);
    require(threads.size() == inversion.witnesses.size() && threads.size() > 1);
  }
}

// Each request is of one disk, one thread and one priority, and no sum of parts is more than the
// whole.
inline void check(const DiskIo& disk) {
  const auto count = disk.all().count();
  require(count == disk.requests().counts().requests);
  u64 of_disks = 0, of_threads = 0, of_processes = 0, of_priorities = 0, of_files = 0;
  for (const auto& [number, one] : disk.disks()) {
    of_disks += one.sums.count();
    require(one.busy.total() >= 0 && one.sums.service >= 0 && one.sums.queue >= 0);
    require(one.sums.service <= one.sums.response && one.sums.queue <= one.sums.response);
    require(one.sums.served <= one.sums.responses.count());
  }
  for (const auto& [thread, sums] : disk.of_threads()) of_threads += sums.count();
  for (const auto& [process, sums] : disk.of_processes()) of_processes += sums.count();
  for (const auto& [priority, sums] : disk.of_priorities()) of_priorities += sums.count();
  for (const auto& sums : disk.of_files()) of_files += sums.count();
  require(of_disks == count && of_threads == count && of_processes == count &&
          of_priorities == count && of_files == count);
}

// Hops follow each other through all of the time, whoever it is.
inline void check(const CriticalPath& path, const Population& population,
                  const Observed& observed) {
  if (!observed.first || *observed.first >= *observed.last) return;
  for (Index thread = 0; thread < std::min<std::size_t>(population.threads().size(), 4); ++thread) {
    const auto hops = path.find(thread, *observed.first, *observed.last);
    require(!hops.empty() && hops.front().from == *observed.first &&
            hops.back().to == *observed.last);
    for (std::size_t i = 0; i < hops.size(); ++i) {
      require(hops[i].from < hops[i].to && hops[i].depth < CriticalPath::most_depth);
      require(i == 0 || hops[i].from == hops[i - 1].to);
    }
  }
}

inline void check(const FileIo& files) {
  u64 began = 0, ended = 0;
  for (const auto& sums : files.of_actions()) {
    began += sums.operations;
    ended += sums.ended;
    require(sums.timed <= sums.ended && sums.failed <= sums.ended && sums.longest <= sums.time);
  }
  require(began == ended + files.open() + files.lost_ends() + files.left_out());
  u64 of_files = 0;
  for (const auto& sums : files.of_files()) of_files += sums.operations;
  require(of_files == began);
}

inline void check(const NetworkIo& network) {
  u64 of_processes = 0, of_peers = 0;
  for (const auto& [process, sums] : network.of_processes())
    of_processes += sums.sends + sums.receives + sums.repeats;
  for (const auto& [peer, sums] : network.of_peers())
    of_peers += sums.sends + sums.receives + sums.repeats;
  require(of_processes == of_peers);
}

inline void check(const AtRest& rest) {
  for (const auto& [device, one] : rest.devices()) {
    require(one.busy() >= 0 && one.idle() >= 0);
    require(one.longest().size() <= Rest::most_longest);
    for (const auto& saving : one.savings()) require(saving.idle >= 0 && saving.idle <= one.idle());
  }
}

// Longest first, and no wait of a thread is longer than all of its waits, or its time off.
inline void check(const LongestWaits& waits, const Schedule& schedule) {
  const auto longest = waits.longest();
  require(longest.size() <= waits.count());
  for (std::size_t i = 0; i < longest.size(); ++i) {
    const auto length = ticks_between(longest[i].from, longest[i].to);
    require(length > 0);
    require(i == 0 || length <= ticks_between(longest[i - 1].from, longest[i - 1].to));
    const auto& thread = schedule.threads()[longest[i].thread];
    require(length <= (longest[i].told ? thread.waiting : thread.off));
  }
}

inline void check(const WaitGraphView& view) {
  require(view.nodes().size() <= 8 + 2);
  for (const auto& edge : view.edges())
    require(edge.from < view.nodes().size() && edge.to < view.nodes().size());
}

// Paths are no longer than two stacks with what stands around them, and their sum is that of all
// that was added.
inline SampleSum check(const CallTree& tree) {
  const auto& nodes = tree.nodes();
  require(nodes.size() <= CallTree::most_nodes);
  std::vector<std::size_t> depths(nodes.size());
  SampleSum sum;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    if (i > 0) {
      require(node.parent < i);
      depths[i] = depths[node.parent] + 1;
    }
    require(depths[i] <= 2 * StackJoin::most_frames + 4);
    require(node.self.time >= 0 && node.cut.time >= 0);
    require(tree.cut() > 0 || node.cut.samples == 0);
    sum.add(node.self);
    sum.add(node.cut);
  }
  return sum;
}

inline void require_same(const SampleSum& a, const SampleSum& b) {
  require(a.samples == b.samples && a.time == b.time);
}

inline void check(const StatedWaits& waits) {
  for (const auto& edge : waits.edges())
    require(edge.thread != edge.other && edge.count > 0 && edge.timed <= edge.count &&
            edge.time >= 0);
}

inline void check(const EndedWaits& ended, Index thread, const Schedule& schedule) {
  require(ended.longest <= ended.time);
  require(ended.count == 0 || ended.time <= schedule.threads()[thread].waiting);
}

// Waits for requests are among the waits of their thread.
inline void check(const RequestWaits& waits, const Schedule& schedule) {
  for (const auto& edge : waits.edges()) {
    require(edge.ended.count > 0 || edge.open_since);
    require(edge.by_interrupt <= edge.ended.count);
    check(edge.ended, edge.thread, schedule);
  }
}

inline void check(const FileWaits& waits, const Schedule& schedule) {
  for (const auto& edge : waits.edges()) {
    require(edge.ended.count > 0 || edge.open_since);
    require(edge.by_itself + edge.by_completion <= edge.ended.count);
    check(edge.ended, edge.thread, schedule);
  }
}

inline void check(const WaitKinds& kinds, const Schedule& schedule) {
  require(kinds.stacks().frames_held() == 0);
  for (const auto& edge : kinds.edges()) {
    require(edge.ended.count > 0);
    check(edge.ended, edge.thread, schedule);
  }
}

// Processors, processes, modules and functions each have all samples.
inline void check(const ProcessorUse& use, const RunningStacks& stacks) {
  const auto& total = use.total();
  require(total.in_dpc.samples + total.in_isr.samples <= total.all.samples);
  SampledUse of_processors, of_modules, of_functions;
  i64 interrupted = 0, of_routines = 0;
  for (const auto& [number, one] : use.processors()) {
    of_processors.add(one.sampled);
    require(one.sampled_idle.samples <= one.sampled.all.samples);
    add_ticks(interrupted, one.in_dpc);
    add_ticks(interrupted, one.in_isr);
  }
  ThreadUse of_processes = use.unknown_process();
  for (const auto& one : use.processes()) of_processes.add(one);
  for (const auto& one : use.modules()) of_modules.add(one);
  for (const auto& one : use.functions()) of_functions.add(one);
  for (const auto* const sum :
       {&of_processors, &of_modules, &of_functions, &of_processes.sampled}) {
    require_same(sum->all, total.all);
    require_same(sum->in_dpc, total.in_dpc);
    require_same(sum->in_isr, total.in_isr);
  }
  require_same(check(stacks.tree()), total.all);
  require(stacks.stacks().frames_held() == 0);
  u64 turns = 0;
  for (const auto& one : use.threads()) {
    turns += one.turns;
    require(one.interrupted >= 0 && one.interrupted <= one.running);
  }
  require(turns == of_processes.turns);
  for (const auto& one : use.routines()) {
    require(one.exclusive >= 0 && one.exclusive <= one.inclusive);
    add_ticks(of_routines, one.exclusive);
  }
  require(use.counts().left_out_routines > 0 || of_routines == interrupted);
}

// What keeps threads off the processors is what a schedule says of all but the idle ones.
inline void check(const WaitingStacks& stacks, const Schedule& schedule,
                  const Population& population) {
  i64 off = 0;
  for (Index i = 0; i < schedule.threads().size(); ++i) {
    if (population.threads()[i].idle_of) continue;
    const auto& one = schedule.threads()[i];
    for (const auto ticks : {one.waiting, one.ready, one.off, one.swapped, one.created})
      add_ticks(off, ticks);
  }
  require(check(stacks.tree()).time == off);
}

// Whoever runs in between has a priority in between, and no part is longer than the whole.
inline void check(const Inversions& inversions) {
  for (const auto& one : inversions.inversions()) {
    require(one.high != one.low && one.time > 0 && one.stretches > 0 && !one.middles.empty());
    require(one.middles.size() <= Inversions::most_middles);
    require(one.low_priority < one.high_priority);
    for (const auto& middle : one.middles)
      require(middle.priority < one.high_priority && middle.time > 0 && middle.thread != one.low);
  }
  for (const auto& one : inversions.lower_ran())
    require(one.count == 0 || (one.time >= one.longest && one.longest > 0 && one.other != nobody));
}

inline void check(const Priorities& priorities) {
  u64 steps = 0;
  for (const auto& thread : priorities.threads()) {
    u64 explained = 0;
    for (const auto& cause : thread.causes) explained += cause.steps;
    require(explained == thread.steps && thread.changing >= 0 && thread.unknown >= 0);
    for (const auto& level : thread.levels)
      require(level.time >= 0 && level.priority >= 0 &&
              level.priority <= Priorities::most_priority);
    steps += thread.steps;
  }
  require(steps == priorities.steps().size() + priorities.more_steps());
  for (const auto& step : priorities.steps()) require(step.before != step.now);
}

inline void check(fixtures::AllAnalyses& all, const Observed& observed) {
  const auto& population = observed.population;
  check(all.schedule);
  check(all.longest_waits, all.schedule);
  check(all.services);
  check(all.deadlocks);
  check(all.priorities);
  check(all.inversions);
  check(all.disk);
  check(all.path, population, observed);
  check(all.files);
  check(all.network);
  check(all.rest);
  check(all.use, all.running_stacks);
  check(all.waiting_stacks, all.schedule, population);
  check(all.stated_waits);
  check(all.request_waits, all.schedule);
  check(all.file_waits, all.schedule);
  check(all.wait_kinds, all.schedule);
  check(WaitGraphView{{all.waits, all.stated_waits, all.lock_owners, all.request_waits,
                       all.file_waits, all.wait_kinds},
                      population,
                      std::nullopt,
                      8});
  const ProcessTree tree{population};
  check(tree);
  require(ThreadGraph{tree, 8}.nodes().size() <= 8 + population.processes().size() + 1);
}

}  // namespace coldtrace::fuzz
