// A hex dump of every event of a trace in time order, one per line: the minimum cost of any output
// of the events.
//
//   trace_hex TRACE

#include <cstdio>

#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"

int main(int argc, char** argv) {
  using namespace coldtrace;
  if (argc != 2) return 2;
  core::Findings findings;
  const auto trace = tracefile::AnyTrace::open(argv[1], {.catalog = {.names = false}}, findings);
  if (!trace) return 1;
  core::TextBuffer text;
  const auto flush = [&] {
    std::fwrite(text.view().data(), 1, text.size(), stdout);
    text.clear();
  };
  const auto stream = trace->stream({});
  using Item = tracefile::EventSequence::Item;
  for (auto item = stream->next(); item != Item::end; item = stream->next()) {
    if (item != Item::event) continue;
    text.append_hex(stream->event().header);
    text.append_hex(stream->event().extended);
    text.append_hex(stream->event().payload);
    text.append('\n');
    if (text.size() > 1 << 18) flush();
  }
  flush();
  return std::fflush(stdout) == 0 ? 0 : 1;
}
