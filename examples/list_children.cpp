// Lists the processes of a trace, each with the number of processes it started.
#include <cstdio>

#include <coldtrace/trace_analysis/processes/process_tree.hpp>
#include <coldtrace/trace_analysis/records/observation.hpp>

int main(int argc, char** argv) {
  using namespace coldtrace;
  core::Findings findings;
  const auto trace = tracefile::AnyTrace::open(argc == 2 ? argv[1] : "", {}, findings);
  if (!trace) return 2;
  trace_analysis::Observation observation{*trace, {}};
  observation.run({});
  const trace_analysis::ProcessTree tree{observation.population()};
  trace_analysis::Index index = 0;
  for (const auto& process : tree.population().processes())
    std::printf("%6u %4zu %s\n", process.pid, tree.children_of(index++).size(),
                process.image_name.c_str());
  return findings.has_warnings() ? 1 : 0;
}
