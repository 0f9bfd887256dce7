// Counts the events of each provider of an .etl file.
#include <cstdio>
#include <map>
#include <string>

#include <coldtrace/core/file.hpp>
#include <coldtrace/tracefile/etl/trace.hpp>

int main(int argc, char** argv) {
  using namespace coldtrace;
  core::Findings findings;
  const auto file = core::FileImage::open(argc == 2 ? argv[1] : "");
  if (!file) return 2;
  const auto trace = tracefile::Trace::open(**file, {.jobs = 2, .kinds = true}, findings);
  if (!trace) return 2;
  std::map<std::string, unsigned long long> events;
  for (const auto& count : trace->kinds()) {
    const auto& kind = count.kind;
    events[kind.provider_name.empty() ? core::to_string(kind.provider) : kind.provider_name] +=
        count.total();
  }
  for (const auto& [provider, count] : events) std::printf("%10llu %s\n", count, provider.c_str());
  return findings.has_warnings() ? 1 : 0;
}
