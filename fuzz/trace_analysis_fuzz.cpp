// Any bytes as the events that analyses of traces read, with times, ids and payloads as they come:
// what the analyses answer stays within what they were told.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>
#include <span>

#include "coldtrace/trace_analysis/critical_path.hpp"
#include "coldtrace/trace_analysis/deadlocks.hpp"
#include "coldtrace/trace_analysis/disk_io.hpp"
#include "coldtrace/trace_analysis/file_io.hpp"
#include "coldtrace/trace_analysis/network_io.hpp"
#include "coldtrace/trace_analysis/rest.hpp"
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
constexpr std::array<std::array<u8, 3>, 28> kernel_kinds = {
    {{0x05, 36, 4}, {0x05, 50, 2}, {0x05, 1, 3},  {0x05, 2, 3},  {0x05, 3, 3},  {0x05, 4, 3},
     {0x03, 1, 4},  {0x03, 2, 4},  {0x03, 3, 4},  {0x03, 4, 4},  {0x0f, 51, 2}, {0x0f, 52, 2},
     {0x0f, 67, 2}, {0x0f, 68, 2}, {0x0f, 69, 2}, {0x05, 72, 2}, {0x04, 64, 2}, {0x04, 66, 3},
     {0x04, 67, 3}, {0x04, 68, 2}, {0x04, 76, 3}, {0x06, 10, 2}, {0x06, 27, 2}, {0x08, 11, 2},
     {0x01, 10, 3}, {0x01, 12, 3}, {0x01, 11, 2}, {0x01, 14, 3}}};

// The first and the last bytes choose these, all others events of drivers.
constexpr std::size_t low_kinds = 16;

const std::array<u8, 3>* find_classic(u8 kind) {
  if (kind < low_kinds) return &kernel_kinds[kind];
  const std::size_t high = kernel_kinds.size() - low_kinds;
  if (kind < 256 - high) return nullptr;
  return &kernel_kinds[low_kinds + kind - (256 - high)];
}

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

// Each request is of one disk, one thread and one priority, and no sum of parts is more than the
// whole.
void check(const DiskIo& disk) {
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
void check(const CriticalPath& path, const Population& population, const Observed& observed) {
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

void check(const FileIo& files) {
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

void check(const NetworkIo& network) {
  u64 of_processes = 0, of_peers = 0;
  for (const auto& [process, sums] : network.of_processes())
    of_processes += sums.sends + sums.receives + sums.repeats;
  for (const auto& [peer, sums] : network.of_peers())
    of_peers += sums.sends + sums.receives + sums.repeats;
  require(of_processes == of_peers);
}

void check(const AtRest& rest) {
  for (const auto& [device, one] : rest.devices()) {
    require(one.busy() >= 0 && one.idle() >= 0);
    require(one.longest().size() <= Rest::most_longest);
    for (const auto& saving : one.savings()) require(saving.off >= 0);
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
  tracefile::NameTables names{1U << 16U};
  names.finish();
  const tracefile::Clock clock;
  const RestPolicy policy{{1'000, 1'000'000}, 10'000, 100'000};
  AtRest rest{clock, policy, 50'000};
  DiskIo disk{names, std::nullopt, CounterTicks{},
              [&](const DiskIo::Row& row) { rest.on_request(row); }};
  rest.set_disk(disk);
  CriticalPath path{std::numeric_limits<i64>::min()};
  FileIo files{names};
  NetworkIo network;
  const std::array<Analysis*, 9> analyses = {&schedule, &services, &waits,   &deadlocks, &disk,
                                             &path,     &files,    &network, &rest};
  Observed observed{population, losses, std::nullopt, std::nullopt};
  for (auto* const analysis : analyses) analysis->begin(observed);
  const tracefile::StackTable stacks;
  RecordReader reader{schemas, stacks, population, analyses};
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
    if (const auto* const classic = find_classic(kind)) {
      event.event_class = tracefile::EventClass::classic;
      event.kernel_group = (*classic)[0];
      event.opcode = (*classic)[1];
      event.version = (*classic)[2];
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
  check(disk);
  check(path, population, observed);
  check(files);
  check(network);
  check(rest);
  check(WaitGraphView{waits, population, std::nullopt, 8});
  const ProcessTree tree{population};
  check(tree);
  require(ThreadGraph{tree, 8}.nodes().size() <= 8 + population.processes().size() + 1);
  return 0;
}
