// Any bytes as the events that analyses of traces read, with times, ids and payloads as they come:
// what the analyses answer stays within what they were told.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <span>

#include "coldtrace/trace_analysis/deadlocks.hpp"
#include "coldtrace/trace_analysis/schedule.hpp"
#include "coldtrace/trace_analysis/services.hpp"
#include "coldtrace/trace_analysis/thread_graph.hpp"
#include "coldtrace/trace_analysis/ticks.hpp"
#include "coldtrace/trace_analysis/wait_graph_view.hpp"
#include "coldtrace/tracefile/built_in_schemas.hpp"
#include "coldtrace/tracefile/schema_compiler.hpp"
#include "tracefile/analysis/record_reader.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

// An event is a byte that chooses its kind, one for processor and size, the time that passes, and
// the payload.
constexpr std::array<std::array<u8, 3>, 16> kernel_kinds = {{{0x05, 36, 4},
                                                             {0x05, 50, 2},
                                                             {0x05, 1, 3},
                                                             {0x05, 2, 3},
                                                             {0x05, 3, 3},
                                                             {0x05, 4, 3},
                                                             {0x03, 1, 4},
                                                             {0x03, 2, 4},
                                                             {0x03, 3, 4},
                                                             {0x03, 4, 4},
                                                             {0x0f, 51, 2},
                                                             {0x0f, 52, 2},
                                                             {0x0f, 67, 2},
                                                             {0x0f, 68, 2},
                                                             {0x0f, 69, 2},
                                                             {0x05, 72, 2}}};

std::vector<tracefile::Schema> all_schemas() {
  std::vector<tracefile::Schema> all;
  for (const auto& schema : tracefile::built_in_schemas()) {
    auto parsed = tracefile::parse_schemas(schema.text);
    if (!parsed) std::abort();
    for (auto& one : *parsed) all.push_back(std::move(one));
  }
  return all;
}

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const ProcessTree& tree) {
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

void check(const Schedule& schedule) {
  for (const auto& one : schedule.processors())
    require(one.busy >= 0 && one.idle >= 0 && one.unknown >= 0);
  for (const auto& one : schedule.threads())
    require(one.running >= 0 && one.ready >= 0 && one.waiting >= 0 && one.unknown >= 0);
}

void check(const Services& services) {
  for (const auto& one : services.services())
    require(one.exclusive >= 0 && one.times.count() == one.calls);
}

// Each member waits for others of them, and nobody is both member and victim.
void check(const Deadlocks& deadlocks) {
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

void check(const WaitGraphView& view) {
  require(view.nodes().size() <= 8 + 2);
  for (const auto& edge : view.edges())
    require(edge.from < view.nodes().size() && edge.to < view.nodes().size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto declarations = all_schemas();
  static const tracefile::CompiledSchemas schemas{declarations, 8};
  Population population;
  const Losses losses;
  Schedule schedule;
  Services services;
  WaitGraph waits;
  Deadlocks deadlocks;
  const std::array<Analysis*, 4> analyses = {&schedule, &services, &waits, &deadlocks};
  Observed observed{population, losses, std::nullopt, std::nullopt};
  for (auto* const analysis : analyses) analysis->begin(observed);
  RecordReader reader{schemas, population, analyses};
  const auto input = std::as_bytes(std::span{data, size});
  i64 time = 0;
  for (std::size_t at = 0; at + 12 <= input.size();) {
    tracefile::Event event{};
    const auto kind = std::to_integer<u8>(input[at]);
    const auto shape = std::to_integer<u8>(input[at + 1]);
    time = static_cast<i64>(static_cast<u64>(time) + *core::load<u64>(input, at + 2));
    event.timestamp = time;
    event.has_time = true;
    event.pointer_size = 8;
    event.cpu = shape & 3U;
    const auto length =
        std::min<std::size_t>(std::to_integer<u8>(input[at + 10]), input.size() - at - 11);
    event.payload = input.subspan(at + 11, length);
    at += 11 + length;
    if (kind < kernel_kinds.size()) {
      event.event_class = tracefile::EventClass::classic;
      event.kernel_group = kernel_kinds[kind][0];
      event.opcode = kernel_kinds[kind][1];
      event.version = kernel_kinds[kind][2];
      event.pid = 4;
      event.tid = shape;
    } else {
      event.event_class = tracefile::EventClass::driver;
      event.id = static_cast<u16>((1U + shape / 64U) << 8U | (kind & 0x3fU));
      event.cpu = shape & 1U;
      if (const auto* known = schemas.find_event(event.id, 0)) event.provider = known->provider;
    }
    if (!observed.first) observed.first = time;
    observed.last = time;
    reader.read(event);
  }
  population.finish();
  for (auto* const analysis : analyses) analysis->finish(observed);
  check(schedule);
  check(services);
  check(deadlocks);
  check(WaitGraphView{waits, population, std::nullopt, 8});
  const ProcessTree tree{population};
  check(tree);
  require(ThreadGraph{tree, 8}.nodes().size() <= 8 + population.processes().size() + 1);
  return 0;
}
