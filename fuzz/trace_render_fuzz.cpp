// Any bytes as a trace: whatever its events hold, their lines are JSON and CSV that strict readers
// of another make take, and so is what "trace info" says.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "cli/trace/trace_info.hpp"
#include "cli/trace/trace_lines.hpp"
#include "fixtures/builders/strict_json.hpp"

namespace {

using namespace coldtrace;

std::string render(const tracefile::Trace& trace, cli::TraceFormat format) {
  const auto header = format == cli::TraceFormat::csv ? cli::trace_csv_header : std::string_view{};
  cli::TraceLines lines{{{trace.schemas(), trace.names(), trace.clock(), {}}, nullptr, nullptr, {}},
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

void check_lines(const core::ImageSource& image) {
  core::Findings findings;
  const auto trace = tracefile::Trace::open(image, {}, findings);
  if (!trace) return;
  if (fixtures::find_ndjson_error(render(*trace, cli::TraceFormat::ndjson))) __builtin_trap();
  if (fixtures::find_csv_error(render(*trace, cli::TraceFormat::csv))) __builtin_trap();
}

// Of either format, packed or not.
void check_info(core::ByteView bytes) {
  tracefile::AnyTrace::Options options;
  options.unpacked_limit = 1 << 24;
  options.catalog.kinds = true;
  core::Findings findings;
  auto trace =
      tracefile::AnyTrace::open(std::make_unique<core::MemoryImage>(bytes), options, findings);
  if (!trace) return;
  cli::BufferPool pool;
  cli::Output output{std::numeric_limits<std::size_t>::max(), pool};
  cli::JsonWriter json{output, cli::Int64::string};
  cli::write_trace_info(json, {std::move(*trace), std::move(findings)});
  std::vector<core::TextBuffer> pieces;
  output.take(pieces);
  std::string text;
  for (const auto& piece : pieces) text += piece.view();
  if (fixtures::find_json_error(text)) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  check_lines(core::MemoryImage{bytes});
  check_info(bytes);
  return 0;
}
