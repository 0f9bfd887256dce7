// Writes a scenario of `trace synthesize` as an .etl file: the same run, as Windows would log it.
//
// usage: make_scenario_etl SCENARIO SEED ROUNDS CSWITCH-VERSION FILE
//            [SAMPLING-INTERVAL [CLOCK-TYPE FREQUENCY]]
//
// With an interval, in units of 100 ns, it has samples and stacks too (0: none). With a clock each
// unit of the run is a tick of that clock, as EtlLog::count has it.

#include <fstream>
#include <string>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/etl_log.hpp"

int main(int argc, char** argv) {
  using namespace coldtrace;
  if (argc != 6 && argc != 7 && argc != 9) return 2;
  const auto* const plan = tracefile::synthesis::find_plan(argv[1]);
  if (plan == nullptr) return 2;
  tracefile::ScenarioOptions options;
  options.seed = std::stoull(argv[2]);
  options.rounds = static_cast<u32>(std::stoul(argv[3]));
  fixtures::EtlLog log{plan->file, static_cast<u16>(std::stoul(argv[4]))};
  if (argc > 6) log.sample_each(static_cast<u32>(std::stoul(argv[6])));
  if (argc > 7) log.count(static_cast<u32>(std::stoul(argv[7])), std::stoull(argv[8]));
  play(*plan, options, {&log});
  std::ofstream file{argv[5], std::ios::binary};
  const auto bytes = log.file();
  file << core::to_chars(bytes);
  return file.flush() ? 0 : 1;
}
