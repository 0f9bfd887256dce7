#include "coldtrace/trace_synthesis/scenarios.hpp"

#include "tracefile/synthesis/call_logs.hpp"
#include "tracefile/synthesis/scenario_plans.hpp"
#include "tracefile/synthesis/vtrace_log.hpp"
#include "tracefile/synthesis/wmk_log.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

// Ends the file behind what the other logs have written, and keeps from it what is lost.
class FileLog final : public MachineLog {
 public:
  explicit FileLog(CtraceFile& file) : file_{file} {}

  void loss_begins(u64 time, u16 processor) override { file_.loss_begins(time, processor); }
  void loss_ends(u64 time, u16 processor) override { file_.loss_ends(time, processor); }
  void end(u64 time) override { file_.end(time); }

 private:
  CtraceFile& file_;
};

using Logs = std::vector<std::unique_ptr<MachineLog>>;

// Where two schemas can say the same, waits are told by the one that has a word for several
// objects.
Logs make_logs(CtraceFile& file, const std::vector<std::string_view>& schemas) {
  const auto has = [&](std::string_view schema) {
    return std::find(schemas.begin(), schemas.end(), schema) != schemas.end();
  };
  const bool both = has("wmk") && has("vtrace");
  Logs logs;
  if (has("wmk")) logs.push_back(std::make_unique<WmkLog>(file, WmkLog::Options{!both}));
  if (has("vtrace")) logs.push_back(std::make_unique<VtraceLog>(file, VtraceLog::Options{both}));
  if (has("dynamic_tracing")) logs.push_back(std::make_unique<DynamicTracingLog>(file));
  if (has("vxdmon")) logs.push_back(std::make_unique<VxdmonLog>(file));
  logs.push_back(std::make_unique<FileLog>(file));
  return logs;
}

}  // namespace
}  // namespace coldtrace::tracefile::synthesis

namespace coldtrace::tracefile {

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> made;
    for (const auto& plan : synthesis::scenario_plans()) made.push_back({plan.name, plan.summary});
    return made;
  }();
  return all;
}

std::optional<ScenarioAnswers> synthesize(std::string_view name, const ScenarioOptions& options,
                                          const CtraceWriter::Sink& sink) {
  const auto* const plan = synthesis::find_plan(name);
  if (plan == nullptr) return {};
  synthesis::CtraceFile file{plan->file, options, sink};
  const auto logs = synthesis::make_logs(file, plan->file.schemas);
  std::vector<synthesis::MachineLog*> told;
  for (const auto& log : logs) told.push_back(log.get());
  auto answers = play(*plan, options, std::move(told));
  for (const auto& [processor, first] : file.begins_late())
    answers.losses.push_back({processor, 0, first});
  return answers;
}

}  // namespace coldtrace::tracefile
