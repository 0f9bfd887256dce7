#include "tests/tracefile/analysis/recorded_run.hpp"

#include <fstream>

#include "coldtrace/core/text.hpp"
#include "coldtrace/trace_analysis/records/observation.hpp"
#include "coldtrace/trace_synthesis/scenarios.hpp"
#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace::fixtures {

using namespace trace_analysis;

class RecordedRun::Recorder final : public Analysis {
 public:
  void on_switch(const ContextSwitch& record) override {
    steps.push_back([=](Population&, Analysis& to, std::vector<Index>& running) {
      const auto cpu = *record.moment.cpu;
      if (cpu >= running.size()) running.resize(std::size_t{cpu} + 1, nobody);
      auto copy = record;
      copy.continues = running[cpu] == record.old_thread;
      running[cpu] = record.new_thread;
      to.on_switch(copy);
    });
  }
  void on_ready(const Readied& record) override {
    steps.push_back([=](Population&, Analysis& to, auto&) { to.on_ready(record); });
  }
  void on_wait_begin(const WaitBegin& record) override {
    const std::vector<WaitedObject> objects{record.objects.begin(), record.objects.end()};
    steps.push_back([=](Population&, Analysis& to, auto&) {
      auto copy = record;
      copy.objects = objects;
      to.on_wait_begin(copy);
    });
  }
  void on_wait_end(const WaitEnd& record) override {
    steps.push_back([=](Population&, Analysis& to, auto&) { to.on_wait_end(record); });
  }
  void on_thread(const ThreadRecord& record) override {
    steps.push_back([=](Population& population, Analysis& to, auto&) {
      if (record.life == Life::ends)
        population.at_thread(record.thread).life.end = record.moment.time;
      to.on_thread(record);
    });
  }

  std::vector<Tell> steps;
};

RecordedRun::RecordedRun(const char* scenario, u64 seed, u32 rounds) {
  const TemporaryDirectory folder;
  const auto path = folder.path("run.ctrace");
  {
    std::ofstream file{path, std::ios::binary};
    tracefile::ScenarioOptions options;
    options.seed = seed;
    options.rounds = rounds;
    truth_ = *tracefile::synthesize(scenario, options,
                                    [&](core::ByteView bytes) { file << core::to_chars(bytes); });
  }
  core::Findings findings;
  const auto trace = tracefile::AnyTrace::open(path, {}, findings);
  Observation observation{*trace, {}};
  Recorder recorder;
  Analysis* const analyses[] = {&recorder};
  observation.run(analyses);
  population_ = observation.population();
  for (Index i = 0; i < population_.threads().size(); ++i)
    population_.at_thread(i).life.end.reset();
  first_ = observation.observed().first;
  last_ = observation.observed().last;
  steps_ = std::move(recorder.steps);
}

RecordedRun::~RecordedRun() = default;

i64 RecordedRun::start() const {
  return static_cast<i64>(truth_.start.ticks);
}

void RecordedRun::tell(Analysis& answer, std::size_t without) const {
  auto population = population_;
  const Losses losses;
  const Observed observed{population, losses, first_, last_};
  std::vector<Index> running;
  answer.begin(observed);
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (i != without) steps_[i](population, answer, running);
  answer.finish(observed);
}

const tracefile::ScenarioAnswers::Thread* RecordedRun::find_truth(Index index) const {
  const auto& thread = population_.threads()[index];
  if (thread.idle_of || !thread.life.start) return nullptr;
  for (const auto& one : truth_.threads)
    if (one.id == thread.tid && one.created &&
        static_cast<i64>(*one.created) == *thread.life.start - start())
      return &one;
  return nullptr;
}

}  // namespace coldtrace::fixtures
