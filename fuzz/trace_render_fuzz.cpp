// Any bytes as a trace: whatever its events hold, their lines are JSON and CSV that strict readers
// of another make take.

#include <cstdint>
#include <span>

#include "cli/trace/trace_lines.hpp"
#include "fixtures/builders/strict_json.hpp"

namespace {

using namespace coldtrace;

std::string render(const tracefile::Trace& trace, cli::TraceFormat format) {
  const auto header = format == cli::TraceFormat::csv ? cli::trace_csv_header : std::string_view{};
  cli::TraceLines lines{{trace.clock(), trace.names(), trace.schemas()},
                        {.format = format, .int64 = cli::Int64::string, .header_fields = true}};
  core::TextBuffer text;
  text.append(header);
  auto stream = trace.stream({.largest_buffers = 1 << 16});
  using Item = tracefile::EventStream::Item;
  for (auto item = stream.next(); item != Item::end; item = stream.next()) {
    if (item == Item::event)
      lines.append_event(text, stream.event());
    else
      lines.append_gap(text, stream.gap());
  }
  return std::string{text.view()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const core::MemoryImage image{std::as_bytes(std::span{data, size})};
  core::Findings findings;
  const auto trace = tracefile::Trace::open(image, {}, findings);
  if (!trace) return 0;
  if (fixtures::find_ndjson_error(render(*trace, cli::TraceFormat::ndjson))) __builtin_trap();
  if (fixtures::find_csv_error(render(*trace, cli::TraceFormat::csv))) __builtin_trap();
  return 0;
}
