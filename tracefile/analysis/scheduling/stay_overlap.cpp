#include "tracefile/analysis/scheduling/stay_overlap.hpp"

#include <algorithm>
#include <tuple>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

Overlap find_overlap(std::span<const Stay> stays, std::span<const Role> roles, i64 from, i64 to,
                     std::size_t processors) {
  struct Edge {
    i64 time;
    bool begins;
    std::size_t stay;
  };
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    const auto begin = std::max(stays[i].begin, from);
    const auto end = std::min(stays[i].end, to);
    if (begin >= end) continue;
    edges.push_back({begin, true, i});
    edges.push_back({end, false, i});
  }
  std::ranges::sort(edges, {}, [](const Edge& edge) {
    return std::tuple{edge.time, edge.begins, edge.stay};
  });
  Overlap overlap;
  overlap.shares.resize(stays.size());
  std::size_t running = 0, wanted = 0, forbidden = 0;
  i64 last = from;
  for (const auto& edge : edges) {
    if (wanted > 0 && forbidden == 0 && running >= processors && edge.time > last) {
      if (overlap.time == 0) overlap.from = last;
      overlap.to = edge.time;
      add_ticks(overlap.time, ticks_between(last, edge.time));
    }
    last = edge.time;
    auto& count = roles[edge.stay] == Role::wanted ? wanted : forbidden;
    const bool counts = roles[edge.stay] != Role::other;
    if (edge.begins) {
      ++running;
      if (counts) ++count;
      overlap.shares[edge.stay] = -overlap.time;
    } else {
      --running;
      if (counts) --count;
      overlap.shares[edge.stay] += overlap.time;
    }
  }
  return overlap;
}

}  // namespace coldtrace::trace_analysis
