#include "cli/trace/export/event_lines.hpp"

#include "cli/command/parsed_json.hpp"
#include "cli/trace/trace_where.hpp"
#include "coldtrace/tracefile/events/sequence_findings.hpp"
#include "coldtrace/tracefile/providers/decoding_findings.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"

namespace coldtrace::cli {
namespace {

using Item = tracefile::EventSequence::Item;

}  // namespace

void add_event_export_options(Command& command, EventExportOptions& options) {
  add_trace_input_options(command, options);
  add_schema_options(command, options.schemas);
  add_parameters_option(command, options.schemas);
  add_tmf_option(command, options.schemas);
  add_selection_options(command, options.selection, options.where);
}

EventExport::EventExport(const EventExportOptions& options)
    : selection_{options.selection}, report_{options.findings} {
  if (options.where) {
    selection_.where = read_where("--where", *options.where);
    ready_ = selection_.where.has_value();
    if (!ready_) return;
  }
  input_ = open_trace(options, options.schemas.any() ? TraceUse::lines_by_files : TraceUse::lines,
                      report_);
  if (!input_) return;
  schemas_.emplace(options.schemas, options, *input_);
  selection_.providers = schemas_->with_message_guids(selection_.providers);
}

void EventExport::each(const std::function<void(const EventLine&)>& take) {
  const auto& trace = input_->trace;
  const auto context = trace_context_of(schemas_->context_of(trace));
  tracefile::StreamOptions stream;
  limit_to_times(selection_, trace.clock(), stream);
  stream.progress = input_->begin_progress("exporting");
  const auto events = trace.stream(stream);
  tracefile::EventSelector selector{context, selection_};
  tracefile::EventDecoder decoder{context.schemas};
  TraceLines lines{context, {}};
  core::TextBuffer line;
  ParsedJson reader;
  for (auto item = events->next(); item != Item::end; item = events->next()) {
    if (item == Item::event && !selector.wants(events->event())) continue;
    line.clear();
    if (item == Item::gap)
      lines.append_gap(line, events->gap());
    else
      lines.append_event(line, events->event());
    const auto& json = reader.read(line.view());
    if (item == Item::gap) {
      take({json, nullptr, nullptr, {}});
      continue;
    }
    const auto& event = events->event();
    take({json, &event, decoder.choose_schema(event, decoder.kind_of(event)),
          time_of(event, context.clock)});
  }
  selector.unmatched().report(input_->findings);
  tracefile::note_unread_buffers(events->unread_buffers(), input_->findings);
  tracefile::note_cut_names(lines.cut_names(), input_->findings);
}

Exit EventExport::finish(Output& output) {
  output.commit();
  input_->tell(report_);
  return report_.exit();
}

}  // namespace coldtrace::cli
