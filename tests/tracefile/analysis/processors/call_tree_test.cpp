#include "coldtrace/trace_analysis/processors/call_tree.hpp"

#include <map>
#include <random>

#include <catch2/catch.hpp>

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;
using Kind = Frame::Kind;

using Step = std::pair<Kind, u32>;
using Path = std::vector<Step>;
using Sums = std::array<i64, 3>;  // samples, time, firsts

Sums sums_of(const SampleSum& sum) {
  return {static_cast<i64>(sum.samples), sum.time, static_cast<i64>(sum.firsts)};
}

void add(CallTree& tree, const Path& path, const SampleSum& sum) {
  std::vector<Frame> frames;
  for (const auto& [kind, value] : path) frames.push_back({kind, value});
  tree.add(frames, sum);
}

// From the root, as its nodes name their parents.
Path path_of(const CallTree& tree, u32 node) {
  Path path;
  for (auto at = node; at != 0; at = tree.nodes()[at].parent) {
    const auto& frame = tree.nodes()[at].frame;
    path.insert(path.begin(), {frame.kind, frame.value});
  }
  return path;
}

}  // namespace

TEST_CASE("each path has what was added for it, and all its beginnings are nodes") {
  std::mt19937 random{3};
  for (int round = 0; round < 100; ++round) {
    CallTree tree;
    std::map<Path, Sums> expected{{{}, {}}};
    for (int i = 0; i < 200; ++i) {
      Path path;
      const auto length = random() % 6;
      for (std::size_t at = 0; at < length; ++at)
        path.emplace_back(random() % 2 == 0 ? Kind::thread : Kind::function, random() % 3);
      const SampleSum sum{1, static_cast<i64>(random() % 100), random() % 2};
      add(tree, path, sum);
      for (std::size_t begin = 0; begin <= path.size(); ++begin)
        expected[{path.begin(), path.begin() + static_cast<std::ptrdiff_t>(begin)}];
      const auto added = sums_of(sum);
      for (std::size_t part = 0; part < added.size(); ++part) expected[path][part] += added[part];
    }
    REQUIRE(tree.nodes().size() == expected.size());
    for (u32 node = 0; node < tree.nodes().size(); ++node) {
      const auto found = expected.find(path_of(tree, node));
      REQUIRE(found != expected.end());
      REQUIRE(sums_of(tree.nodes()[node].self) == found->second);
      REQUIRE(sums_of(tree.nodes()[node].cut) == Sums{});
      expected.erase(found);  // each once
    }
    CHECK(tree.cut() == 0);
  }
}

TEST_CASE("of paths beyond those kept the longest kept part has the time") {
  CallTree tree;
  const Step thread{Kind::thread, 1}, inner{Kind::function, 1};
  add(tree, {thread, inner}, {1, 10, 0});
  u32 other = 2;
  while (tree.nodes().size() < CallTree::most_nodes)
    add(tree, {thread, {Kind::function, other++}}, {1, 1, 0});
  add(tree, {thread, inner}, {1, 20, 0});                        // is kept
  add(tree, {thread, inner, {Kind::function, 9}}, {1, 300, 0});  // cut behind `inner`
  add(tree, {thread, {Kind::function, other}}, {1, 4000, 0});    // cut behind the thread
  add(tree, {{Kind::thread, 2}, inner, inner}, {1, 50'000, 1});  // cut at the root
  CHECK(tree.nodes().size() == CallTree::most_nodes);
  CHECK(tree.cut() == 3);
  std::map<Path, Sums> self, cut;
  i64 time = 0;
  for (u32 node = 0; node < tree.nodes().size(); ++node) {
    const auto& one = tree.nodes()[node];
    time += one.self.time + one.cut.time;
    if (one.self.time > 1) self[path_of(tree, node)] = sums_of(one.self);
    if (one.cut.samples > 0) cut[path_of(tree, node)] = sums_of(one.cut);
  }
  CHECK(self == std::map<Path, Sums>{{{thread, inner}, {2, 30, 0}}});
  CHECK(cut == std::map<Path, Sums>{
                   {{}, {1, 50'000, 1}}, {{thread}, {1, 4000, 0}}, {{thread, inner}, {1, 300, 0}}});
  CHECK(time == 10 + 20 + 300 + 4000 + 50'000 + static_cast<i64>(other) - 2);
}
