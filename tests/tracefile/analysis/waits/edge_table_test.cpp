#include "coldtrace/trace_analysis/waits/edge_table.hpp"

#include <string>
#include <type_traits>
#include <utility>

#include <catch2/catch.hpp>

#include "coldtrace/trace_analysis/waits/wait_graph_view.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

namespace {

template <class Names>
constexpr bool waits_for_files = std::is_constructible_v<FileWaits, CounterTicks, Names>;
static_assert(waits_for_files<const tracefile::NameTables&>);
static_assert(!waits_for_files<tracefile::NameTables>);

// What is kept of evidence must not be of a part that ends with the statement.
template <class Graph, class Kinds>
concept MakesEvidence = requires(Graph graph, StatedWaits stated, LockOwners locks,
                                 RequestWaits requests, FileWaits files, Kinds kinds) {
  WaitEvidence{std::forward<Graph>(graph), stated, locks, requests, files,
               std::forward<Kinds>(kinds)};
};
static_assert(MakesEvidence<WaitGraph&, WaitKinds&>);
static_assert(!MakesEvidence<WaitGraph, WaitKinds&>);
static_assert(!MakesEvidence<WaitGraph&, WaitKinds>);

}  // namespace

TEST_CASE(
    "an edge is kept once by its key, in the order in which it came, and not beyond the most") {
  struct Edge {
    int key;
    std::string note;
  };
  EdgeTable<Edge, int> edges{2};
  auto* const first = edges.find_or_add(7, {7, "first"});
  REQUIRE(first != nullptr);
  CHECK(edges.number_of(*first) == 0);
  first->note += " again";
  auto* const second = edges.find_or_add(3, {3, "second"});
  REQUIRE(second != nullptr);
  CHECK(edges.number_of(*second) == 1);
  auto* const known = edges.find_or_add(7, {7, "another"});
  REQUIRE(known != nullptr);
  CHECK(known->note == "first again");
  CHECK(edges.left_out() == 0);
  CHECK(edges.find_or_add(1, {1, "third"}) == nullptr);
  CHECK(edges.find_or_add(1, {1, "third"}) == nullptr);
  CHECK(edges.left_out() == 2);
  REQUIRE(edges.all().size() == 2);
  CHECK(edges.all()[0].key == 7);
  CHECK(edges[1].key == 3);
}
