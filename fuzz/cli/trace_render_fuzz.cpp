// Any bytes as a trace: whatever its events hold, their lines are JSON and CSV that strict readers
// of another make take, and so is what "trace info" says.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "cli/trace/lines/trace_lines.hpp"
#include "cli/trace/trace_info.hpp"
#include "coldtrace/trace_analysis/code/needed_symbols.hpp"
#include "coldtrace/tracefile/stacks/stack_attacher.hpp"
#include "fixtures/builders/strict_json.hpp"

namespace {

using namespace coldtrace;

using Item = tracefile::EventSequence::Item;

std::unique_ptr<tracefile::EventSequence> open_events(const tracefile::Trace& trace) {
  return std::make_unique<tracefile::EventStream>(trace.stream({.largest_buffers = 1 << 16}));
}

// Stacks become parts of other events, and no event is lost or there twice.
std::string render_attached(const tracefile::Trace& trace) {
  tracefile::StackAttacher events{open_events(trace),
                                  trace.names().stacks(),
                                  std::nullopt,
                                  true,
                                  {.events = 16, .bytes = 1 << 20, .frames = 256}};
  cli::TraceLines lines{{{trace.schemas(), trace.names(), trace.clock(), {}}, nullptr, nullptr, {}},
                        {.int64 = cli::Int64::string, .frames = true}};
  trace_analysis::NeededSymbols symbols{trace.names(), trace.schemas()};
  core::TextBuffer text;
  u64 count = 0;
  for (auto item = events.next(); item != Item::end; item = events.next()) {
    if (item != Item::event) continue;
    lines.append_event(text, events.event(), events.stack().get());
    symbols.add(events.event());
    ++count;
  }
  (void)symbols.pdbs();
  (void)symbols.images_without_pdb();
  u64 all = 0;
  const auto plain = open_events(trace);
  for (auto item = plain->next(); item != Item::end; item = plain->next())
    all += item == Item::event ? 1 : 0;
  if (count + events.counts().attached != all) __builtin_trap();
  return std::string{text.view()};
}

std::string render(const tracefile::Trace& trace, cli::TraceFormat format) {
  const auto header =
      format == cli::TraceFormat::csv ? cli::trace_csv_header(false) : std::string{};
  cli::TraceLines lines{{{trace.schemas(), trace.names(), trace.clock(), {}}, nullptr, nullptr, {}},
                        {.format = format, .int64 = cli::Int64::string, .header_fields = true}};
  core::TextBuffer text;
  text.append(header);
  auto stream = trace.stream({.largest_buffers = 1 << 16});
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
  if (fixtures::find_ndjson_error(render_attached(*trace))) __builtin_trap();
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
  cli::write_trace_info(json, {std::move(*trace), std::move(findings)}, {});
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
