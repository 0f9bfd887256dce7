// One pass over a trace: with all analyses together, some, or none ("records": the events become
// records that nothing uses), or plain decoding of all fields of every event, for comparison.
//
//   analyse_trace TRACE all|records|decode|ANALYSIS...

#include <algorithm>
#include <iostream>
#include <string_view>
#include <vector>

#include "coldtrace/trace_analysis/records/observation.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"
#include "fixtures/builders/all_analyses.hpp"

namespace {

using namespace coldtrace;
using tracefile::EventSequence;

// Reads each value, as any output has to.
class Sum final : public tracefile::FieldVisitor {
 public:
  void value(const tracefile::FieldSchema&, const tracefile::Value& value) override {
    sum_ += value.number + value.bytes.size();
  }
  void begin_array(const tracefile::FieldSchema&) override {}
  void end_array() override {}
  void begin_structure(const tracefile::FieldSchema&) override {}
  void end_structure() override {}
  u64 sum() const { return sum_; }

 private:
  u64 sum_ = 0;
};

void decode(const tracefile::AnyTrace& trace) {
  tracefile::EventDecoder decoder{trace.schemas()};
  Sum visitor;
  u64 events = 0;
  const auto stream = trace.stream({});
  for (auto item = stream->next(); item != EventSequence::Item::end; item = stream->next()) {
    if (item != EventSequence::Item::event) continue;
    decoder.decode(stream->event(), decoder.kind_of(stream->event()), visitor);
    ++events;
  }
  std::cout << events << " events, sum of the values " << visitor.sum() << '\n';
}

void analyse(const tracefile::AnyTrace& trace, const std::vector<std::string_view>& wanted) {
  fixtures::AllAnalyses all{trace.names(), trace.clock(), trace_analysis::CounterTicks{trace}};
  std::vector<trace_analysis::Analysis*> analyses;
  for (const auto& [name, analysis] : all.list())
    if (wanted.front() == "all" || std::find(wanted.begin(), wanted.end(), name) != wanted.end())
      analyses.push_back(analysis);
  trace_analysis::Observation observation{trace, {}};
  observation.run(analyses);
  std::cout << observation.observed().events << " events, " << observation.observed().records
            << " records for " << analyses.size() << " analyses\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  core::Findings findings;
  const auto trace = tracefile::AnyTrace::open(argv[1], {}, findings);
  if (!trace) return 1;
  const std::vector<std::string_view> wanted{argv + 2, argv + argc};
  if (wanted.front() == "decode")
    decode(*trace);
  else
    analyse(*trace, wanted);
  return 0;
}
