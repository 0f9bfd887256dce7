// Any text as an expression: its error lies inside of it, or events of many kinds are wanted by it
// or by its negation, never by both.

#include <algorithm>
#include <cstdint>
#include <span>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/etl/trace.hpp"
#include "coldtrace/tracefile/where/event_filter.hpp"
#include "fixtures/builders/etl_file.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::tracefile;

// A trace with events of the kernel, and some that nothing decodes.
struct Sample {
  std::vector<std::byte> bytes = make();
  core::MemoryImage image{bytes};
  core::Findings findings;
  core::Result<Trace> trace = Trace::open(image, {}, findings);

  static std::vector<std::byte> make() {
    fixtures::EtlBuffer buffer{0};
    buffer.system(0x0301, 4, {1, 10, 1'000'001}, fixtures::process_payload(500, "a.exe"))
        .system(0x0301, 4, {2, 20, 1'000'002}, fixtures::process_payload(600, "b.exe"))
        .perfinfo(0x0524, 4, 1'000'003, fixtures::context_switch(12, 11))
        .event({}, 7, 0, {4, 30, 1'000'004}, {});
    return fixtures::build_etl({}, {buffer});
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Sample sample;
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto text = core::to_chars(bytes);
  const auto where = parse_where(text);
  if (!where) {
    const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
    if (where.error().line > lines || where.error().column > size + 1) __builtin_trap();
    return 0;
  }
  // A line of its own ends a comment.
  const auto negation = parse_where("not (" + std::string{text} + "\n)");
  if (!negation) return 0;  // as deep or as long as may be
  const auto& trace = *sample.trace;
  const EventContext context{trace.schemas(), trace.names(), trace.clock(),
                             trace.header().start_time};
  EventFilter filter{context, *where};
  EventFilter opposite{context, *negation};
  auto events = trace.stream({});
  while (events.next() != EventStream::Item::end)
    if (filter.wants(events.event()) == opposite.wants(events.event())) __builtin_trap();
  core::NoMatch unmatched;
  filter.report(unmatched, "--where");
  return 0;
}
