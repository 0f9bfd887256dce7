#include "coldtrace/trace_export/path_times.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/trace_export/export_findings.hpp"

using namespace coldtrace;
using namespace coldtrace::trace_export;

TEST_CASE("samples beyond those that a profile has room for are counted, and told") {
  PathTimes times;
  for (std::size_t i = 0; i < PathTimes::most_samples; ++i) times.add_sample(1, 2);
  CHECK(times.left_out() == 0);
  times.add_sample(1, 2);
  times.add_sample(1, 2);
  CHECK(times.all().size() == PathTimes::most_samples);
  CHECK(times.left_out() == 2);
  core::Findings findings;
  note_left_out(times, findings);
  REQUIRE(findings.count("export-limit") == 1);
  CHECK(findings.all().front().text.starts_with("2 samples are beyond"));
  CHECK(findings.has_warnings());
}

TEST_CASE("a path has its own time, and that of what is cut off below it") {
  trace_analysis::CallTree tree;
  using trace_analysis::Frame;
  const Frame path[] = {{Frame::Kind::thread, 1}, {Frame::Kind::function, 2}};
  tree.add(path, {.time = 30});
  tree.add(std::span{path}.first(1), {.time = 5});
  PathTimes times;
  times.add_sums(tree);
  REQUIRE(times.all().size() == 2);
  CHECK(times.all()[0].weight + times.all()[1].weight == 35);
  core::Findings findings;
  note_left_out(times, findings);
  CHECK(findings.empty());
}
