#include <deque>
#include <fstream>
#include <map>
#include <random>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/trace_synthesis/scenarios.hpp"
#include "fixtures/builders/all_analyses.hpp"
#include "fixtures/builders/etl_log.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "tracefile/analysis/records/record_reader.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;
using tracefile::EventSequence;

struct Play {
  const char* scenario;
  u32 rounds;
  u32 sampling_interval;  // of an .etl file, in units of 100 ns; 0: a .ctrace file
};

// Times and bytes of who did what, by a name for it.
using Sums = std::map<std::string, i64>;

class Events {
 public:
  explicit Events(const Play& play, u64 seed) : trace_{*make(play, seed)} {
    const auto stream = trace_.stream({});
    for (auto item = stream->next(); item != EventSequence::Item::end; item = stream->next()) {
      if (item != EventSequence::Item::event) continue;
      auto event = stream->event();
      event.payload = bytes_.emplace_back(event.payload.begin(), event.payload.end());
      event.extended = bytes_.emplace_back(event.extended.begin(), event.extended.end());
      events_.push_back(event);
    }
  }

  std::size_t size() const { return events_.size(); }

  // What analyses say of all events but one, by sums and by what `look` sees of them.
  template <class Look>
  Sums sums(std::optional<std::size_t> removed, Look look) const {
    fixtures::AllAnalyses all{trace_.names(), trace_.clock(), CounterTicks{trace_}};
    std::vector<Analysis*> analyses;
    for (const auto& [name, analysis] : all.list()) analyses.push_back(analysis);
    Population population;
    const Losses losses;
    Observed observed{population, losses, events_.front().name_time(), events_.back().name_time()};
    for (auto* const analysis : analyses) analysis->begin(observed);
    RecordReader reader{trace_.schemas(), trace_.names().stacks(), losses, population, analyses};
    for (std::size_t i = 0; i < events_.size(); ++i)
      if (i != removed) reader.read(events_[i]);
    reader.finish();
    for (auto* const analysis : analyses) analysis->finish(observed);
    look(all);
    Sums sums;
    add(sums, all.services);
    add(sums, all.waits, population);
    add(sums, all.use, population);
    add(sums, all.disk);
    add(sums, all.files);
    add(sums, all.network, population);
    add(sums, all.rest);
    for (const auto* const tree : {&all.running_stacks.tree(), &all.waiting_stacks.tree()})
      for (const auto& node : tree->nodes())
        sums[tree == &all.running_stacks.tree() ? "on" : "off"] += node.self.time;
    return sums;
  }

 private:
  tracefile::AnyTrace* make(const Play& play, u64 seed) {
    const auto path = folder_.path("run");
    tracefile::ScenarioOptions options;
    options.seed = seed;
    options.rounds = play.rounds;
    std::ofstream file{path, std::ios::binary};
    if (play.sampling_interval == 0) {
      REQUIRE(tracefile::synthesize(play.scenario, options,
                                    [&](core::ByteView bytes) { file << core::to_chars(bytes); }));
    } else {
      const auto* const plan = tracefile::synthesis::find_plan(play.scenario);
      fixtures::EtlLog log{plan->file, 4};
      log.sample_each(play.sampling_interval);
      tracefile::synthesis::play(*plan, options, {&log});
      const auto bytes = log.file();
      file << core::to_chars(bytes);
    }
    REQUIRE(file.flush());
    core::Findings findings;
    auto opened = tracefile::AnyTrace::open(path, {}, findings);
    REQUIRE(opened);
    return &opened_.emplace(std::move(*opened));
  }

  static void add(Sums& sums, const Services& services) {
    for (const auto& one : services.services()) {
      const auto& [kind, number] = one.service;
      // Its returns do not say from what.
      if (kind == Service::Kind::system_call_address) continue;
      const auto name = fmt::format("service {} {:x}", to_string(kind), number);
      sums[name + " inclusive"] += one.inclusive;
      sums[name + " on processor"] += one.on_processor.value_or(0);
      sums[name + " cycles"] += static_cast<i64>(one.cycles.value_or(0));
      // What was inside an interrupt and is missing is time of that interrupt.
      sums[kind < Service::Kind::isr ? name + " exclusive" : "interrupts"] += one.exclusive;
    }
  }
  static void add(Sums& sums, const ProcessorUse& use, const Population& population) {
    for (Index i = 0; i < use.threads().size(); ++i) {
      const auto& thread = population.threads()[i];
      if (thread.idle_of) continue;
      const auto name = fmt::format("thread {}", thread.tid);
      sums[name + " running"] += use.threads()[i].running;
      sums[name + " interrupted"] += use.threads()[i].interrupted;
      sums[name + " samples"] += static_cast<i64>(use.threads()[i].sampled.all.samples);
    }
    for (const auto& one : use.routines())
      sums[fmt::format("routine {:x}", one.routine.number)] += one.inclusive;
    sums["samples"] = use.total().all.time;
  }
  static void add(Sums& sums, const WaitGraph& waits, const Population& population) {
    for (const auto& one : waits.edges())
      sums[fmt::format("thread {} waited for {:x}", population.threads()[one.thread].tid,
                       waits.objects().all()[one.object].waited.address)] += one.total;
    for (const auto& one : waits.wakes().edges())
      sums[fmt::format("thread {} woken", population.threads()[one.thread].tid)] += one.total;
  }
  static void add(Sums& sums, const DiskIo& disk) {
    for (const auto& [number, one] : disk.disks()) {
      sums["disk response"] += one.sums.response;
      sums["disk busy"] += one.busy.total();
      sums["disk bytes"] += static_cast<i64>(one.sums.bytes_read + one.sums.bytes_written);
    }
    for (const auto& [thread, one] : disk.of_threads())
      if (thread != nobody) sums["disk responses"] += one.response;
  }
  static void add(Sums& sums, const FileIo& files) {
    for (std::size_t i = 0; i < files.of_actions().size(); ++i) {
      const auto& one = files.of_actions()[i];
      const auto name = fmt::format("file {}", to_string(static_cast<FileAction>(i)));
      sums[name + " time"] += one.time;
      sums[name + " bytes"] += static_cast<i64>(one.bytes_read + one.bytes_written);
    }
  }
  static void add(Sums& sums, const NetworkIo& network, const Population& population) {
    for (const auto& [process, one] : network.of_processes())
      sums[fmt::format("network {}", population.processes()[process].pid)] +=
          static_cast<i64>(one.bytes_sent + one.bytes_received);
  }
  static void add(Sums& sums, const AtRest& rest) {
    for (const auto& [device, one] : rest.devices()) {
      const auto name = fmt::format("device {} {}", static_cast<int>(device.kind), device.number);
      if (device.kind == AtRest::Device::Kind::network) continue;
      sums[name + " busy"] += one.busy();
      sums[name + " idle"] += one.idle();
    }
  }

  fixtures::TemporaryDirectory folder_;
  std::optional<tracefile::AnyTrace> opened_;
  tracefile::AnyTrace& trace_;
  std::deque<std::vector<std::byte>> bytes_;
  std::vector<tracefile::Event> events_;
};

}  // namespace

// Whom a time is given to may change where nothing tells that an event is missing; that there is
// more of it may not.
TEST_CASE("an event that is missing gives nobody more of anything") {
  const Play plays[] = {{"server", 2, 0},         {"server", 2, 5000}, {"disk-bursts", 2, 0},
                        {"disk-bursts", 2, 5000}, {"disk-idle", 2, 0}, {"vxd-services", 4, 0}};
  std::mt19937_64 random{11};
  for (const auto& play : plays) {
    const Events events{play, random()};
    const auto nothing = [](const fixtures::AllAnalyses&) {};
    const auto whole = events.sums(std::nullopt, nothing);
    int noticed = 0;
    for (int run = 0; run < 170; ++run) {
      const auto removed = random() % events.size();
      const auto sums = events.sums(removed, nothing);
      if (sums != whole) ++noticed;
      for (const auto& [name, sum] : sums) {
        const auto before = whole.find(name);
        if (sum > (before == whole.end() ? 0 : before->second))
          FAIL_CHECK(play.scenario << " " << play.sampling_interval << " without " << removed
                                   << ": " << name);
      }
    }
    CHECK(noticed > 20);
  }
}

TEST_CASE("an event that is missing proves no deadlock") {
  std::mt19937_64 random{12};
  for (const auto* const scenario : {"producer-consumer", "lock-convoy", "priority-inversion"}) {
    const Events events{Play{scenario, 4, 0}, random()};
    bool has_waits = false;
    for (int run = 0; run < 170; ++run) {
      const auto removed = random() % events.size();
      CAPTURE(scenario, removed);
      events.sums(removed, [&](const fixtures::AllAnalyses& all) {
        CHECK(all.deadlocks.deadlocks().empty());
        has_waits = has_waits || !all.waits.edges().empty();
      });
    }
    CHECK(has_waits);
  }
}
