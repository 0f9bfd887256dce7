#include "coldtrace/tracefile/selection/event_selection.hpp"

#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "coldtrace/tracefile/fields/provider_names.hpp"
#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u16 process_start = 0x0301;
constexpr u16 thread_start = 0x0501;

// A view of a text that ends with the statement would dangle.
template <class T>
concept gives_class = requires(T&& text) {
  event_class_of(std::forward<T>(text));
};
template <class T>
concept gives_rest = requires(T&& text) {
  without_prefix(std::forward<T>(text));
};
static_assert(gives_class<std::string&> && gives_class<const char*> && !gives_class<std::string>);
static_assert(gives_rest<std::string&> && gives_rest<const char*> && !gives_rest<std::string>);

// Three events of the kernel by two processes, and one of some provider.
std::vector<std::byte> four_events(const fixtures::EtlSession& session) {
  fixtures::EtlBuffer buffer{0};
  buffer.system(process_start, 4, {1, 10, 1'000'001}, fixtures::process_payload(500, "a.exe"))
      .system(process_start, 4, {2, 20, 1'000'002}, fixtures::process_payload(600, "b.exe"))
      .system(thread_start, 3, {3, 20, 1'000'003}, words({1}))
      .event(some_provider, 7, 0, {4, 30, 1'000'004}, words({2}));
  return fixtures::build_etl(session, {buffer});
}

// The times of the events that are wanted, as offsets; and what was asked for in vain.
std::pair<std::vector<i64>, bool> select(const EventSelection& selection,
                                         const fixtures::EtlSession& session = {}) {
  const auto open = open_bytes(four_events(session));
  EventSelector selector{{open.trace->schemas(), open.trace->names(), open.trace->clock(), {}},
                         selection};
  StreamOptions options;
  limit_to_times(selection, open.trace->clock(), options);
  std::vector<i64> times;
  for (const auto& held : all_events(*open.trace, options))
    if (selector.wants(held.event) && held.event.timestamp > 1'000'000)
      times.push_back(held.event.timestamp - 1'000'000);
  return {times, selector.unmatched().empty()};
}

using Times = std::vector<i64>;

}  // namespace

TEST_CASE("a selection wants what all its lists want") {
  CHECK(select({}) == std::pair{Times{1, 2, 3, 4}, true});
  CHECK(select({.events = {"Process/*"}}) == std::pair{Times{1, 2}, true});
  CHECK(select({.events = {"process"}}) == std::pair{Times{1, 2}, true});
  CHECK(select({.events = {"7"}}) == std::pair{Times{4}, true});
  CHECK(select({.events = {"Thread/Start", "7"}}) == std::pair{Times{3, 4}, true});
  CHECK(select({.providers = {"{12345678-9abc-def0-1234-56789abcdef0}"}}) ==
        std::pair{Times{4}, true});
  CHECK(select({.providers = {"Windows Kern?l"}}) == std::pair{Times{1, 2, 3}, true});
  // The last one has neither a name nor a provider with one.
  CHECK(select({.events = {"*"}}) == std::pair{Times{1, 2, 3, 4}, true});
  CHECK(select({.events = {"?*"}}) == std::pair{Times{1, 2, 3}, true});
  CHECK(select({.providers = {"*"}}) == std::pair{Times{1, 2, 3, 4}, true});
  CHECK(select({.processes = {"20"}}) == std::pair{Times{2, 3}, true});
  CHECK(select({.processes = {"20"}, .tids = {2}}) == std::pair{Times{2}, true});
  CHECK(select({.events = {"Process/*"}, .processes = {"20"}}) == std::pair{Times{2}, true});
}

TEST_CASE("a process is its id, or a name or glob of its image") {
  CHECK(is_process("20", 20, "a.exe"));
  CHECK_FALSE(is_process("20", 2, "20"));  // digits are an id
  CHECK(is_process("A.EXE", 20, "a.exe"));
  CHECK(is_process("?.ex*", 20, "a.exe"));
  CHECK_FALSE(is_process("a", 20, "a.exe"));
  CHECK_FALSE(is_process("4294967316", 20, "a.exe"));  // 2^32 + 20
  CHECK_FALSE(is_process("", 0, "a.exe"));
}

TEST_CASE("what no event has is told") {
  CHECK(select({.events = {"Process/*", "Prozess"}}) == std::pair{Times{1, 2}, false});
  CHECK(select({.processes = {"20", "21"}}) == std::pair{Times{2, 3}, false});
  CHECK(select({.tids = {9}}) == std::pair{Times{}, false});
  // Each is there, and never together.
  CHECK(select({.events = {"7"}, .processes = {"20"}}) == std::pair{Times{}, false});
}

TEST_CASE("times limit a selection, both ends included") {
  // One tick of the 10 MHz clock is 100 ns; the session starts at 12:00.
  const auto at = [](u64 ticks) {
    return std::optional{core::FileTime{fixtures::EtlSession{}.start_time + ticks}};
  };
  CHECK(select({.from = at(2)}).first == Times{2, 3, 4});
  CHECK(select({.from = at(2), .to = at(3)}).first == Times{2, 3});
  CHECK(select({.to = at(1)}).first == Times{1});
  CHECK(select({.from = at(3), .to = at(2)}) == std::pair{Times{}, false});
}

TEST_CASE("a time that the clock of a trace cannot have is before or behind all events") {
  const fixtures::EtlSession cycles{.clock_type = 3, .cpu_mhz = 3000};
  const core::FileTime in_1650{u64{49} * 365 * 864'000'000'000};
  const core::FileTime in_2200{u64{599} * 365 * 864'000'000'000};
  CHECK(select({.to = in_1650}, cycles) == std::pair{Times{}, false});
  CHECK(select({.from = in_2200}, cycles) == std::pair{Times{}, false});
  CHECK(select({.from = in_1650, .to = in_2200}, cycles) == std::pair{Times{1, 2, 3, 4}, true});
}

}  // namespace coldtrace::tracefile
