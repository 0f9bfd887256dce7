#include "coldtrace/trace_analysis/processes/process_tree.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

namespace {

std::vector<Index> list(std::span<const Index> items) {
  return {items.begin(), items.end()};
}

}  // namespace

TEST_CASE("a process belongs to its creator's, else to the parent that it names") {
  Population population;
  const auto system = population.start_process(4, 0, {});
  const auto service = population.start_process(8, 10, {});
  const auto client = population.start_process(12, 20, {});
  const auto child = population.start_process(16, 30, {});
  const auto creator = population.start_thread(100, 25, {});
  const auto stray = population.start_thread(104, 26, {});
  population.at_thread(creator).process = service;
  population.at_process(service).parent = system;
  // It names the client as its parent, as a service does that starts a process for one.
  population.at_process(child).parent = client;
  population.at_process(child).creator = creator;
  population.at_process(child).stated_parent = 12;
  population.at_process(client).parent = client;  // its own id: a reused one
  const ProcessTree tree{population};
  CHECK(tree.parent_of(service) == system);
  CHECK(tree.parent_of(child) == service);
  CHECK(tree.parent_of(client) == nobody);
  CHECK(tree.has_other_parent(child));
  CHECK_FALSE(tree.has_other_parent(service));
  CHECK(list(tree.roots()) == std::vector{system, client});
  CHECK(list(tree.children_of(service)) == std::vector{child});
  CHECK(list(tree.threads_of(service)) == std::vector{creator});
  CHECK(list(tree.stray_threads()) == std::vector{stray});
}

TEST_CASE("processes that are each other's parents have a root all the same") {
  Population population;
  const auto first = population.start_process(4, 0, {});
  const auto second = population.start_process(8, 10, {});
  population.at_process(first).parent = second;
  population.at_process(second).parent = first;
  const ProcessTree tree{population};
  CHECK(tree.roots().size() == 1);
  CHECK(tree.children_of(tree.roots()[0]).size() == 1);
}
