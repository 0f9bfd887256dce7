#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/trace_synthesis/scenario_answers.hpp"

namespace coldtrace::fixtures {

// The records of a made-up run, to be told again without one of them.
class RecordedRun {
 public:
  RecordedRun(const char* scenario, u64 seed, u32 rounds);
  ~RecordedRun();

  std::size_t size() const { return steps_.size(); }

  // What the analysis answers when it is told all records but one.
  template <class Answer>
  std::unique_ptr<Answer> replay(std::size_t without) const {
    auto answer = std::make_unique<Answer>();
    tell(*answer, without);
    return answer;
  }

  // What is true of a thread, once told of; null where nobody is known under its id and start.
  const tracefile::ScenarioAnswers::Thread* find_truth(trace_analysis::Index thread) const;
  const tracefile::ScenarioAnswers& truth() const { return truth_; }
  i64 start() const;  // ticks of the trace at which the truth begins

 private:
  using Tell = std::function<void(trace_analysis::Population&, trace_analysis::Analysis&,
                                  std::vector<trace_analysis::Index>& running)>;
  class Recorder;

  void tell(trace_analysis::Analysis& answer, std::size_t without) const;

  tracefile::ScenarioAnswers truth_;
  trace_analysis::Population population_;
  std::optional<i64> first_, last_;
  std::vector<Tell> steps_;
};

}  // namespace coldtrace::fixtures
