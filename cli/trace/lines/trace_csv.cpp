#include <fmt/format.h>

#include "cli/output/exact_text.hpp"
#include "cli/trace/lines/trace_lines.hpp"
#include "cli/trace/lines/trace_text.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"

namespace coldtrace::cli {
namespace {

using core::TextBuffer;
using tracefile::Event;
using tracefile::EventClass;
using tracefile::EventKind;

void append_csv(TextBuffer& text, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    text.append(field);
    return;
  }
  text.append('"');
  for (const char c : field) {
    if (c == '"') text.append('"');
    text.append(c);
  }
  text.append('"');
}

// As a file has it, which may be no UTF-8.
void append_csv_name(TextBuffer& text, std::string_view name) {
  if (core::is_valid_utf8(name))
    append_csv(text, name);
  else
    append_csv(text, core::to_valid_utf8(name));
}

}  // namespace

std::string trace_csv_header(bool has_several_files) {
  std::string columns =
      "type,time,timestamp,cpu,pid,tid,process,provider_guid,provider,name,id,opcode,version,level,"
      "keywords,activity,decoded,fields,details";
  return columns + (has_several_files ? ",file\n" : "\n");
}

void TraceLines::end_csv(TextBuffer& text, u16 file) const {
  if (!trace_.files.empty()) {
    text.append(',');
    append_csv_name(text, trace_.files[file]);
  }
  text.append('\n');
}

void TraceLines::append_csv_gap(TextBuffer& text, const tracefile::Gap& gap,
                                std::string_view place) {
  text.append("gap,");
  if (const auto time = time_of(gap)) text.append(times_.format(*time));
  text.append(',');
  if (gap.timestamp) text.append_decimal(*gap.timestamp);
  text.append(',');
  if (gap.cpu) text.append_decimal(u64{*gap.cpu});
  text.append(",,,,,,,,,,,,,,,");
  append_csv(text, fmt::format("{{{}}}", place));
  end_csv(text, gap.file);
}

void TraceLines::append_csv_event(TextBuffer& text, const Event& event, const EventKind& kind) {
  const auto optional = [&](const auto& number) {
    text.append(',');
    if (number) text.append_decimal(u64{*number});
  };
  text.append("event,");
  if (const auto time = tracefile::time_of(event, trace_.clock)) text.append(times_.format(*time));
  text.append(',');
  if (event.has_time) text.append_decimal(event.timestamp);
  optional(event.cpu);
  optional(event.pid);
  optional(event.tid);
  text.append(',');
  if (event.pid) {
    const auto name =
        shown(trace_.names.get().find_process(*event.pid, event.name_time()).value_or(""));
    if (trace_.hashed != nullptr)
      text.append(trace_.hashed->name(name));
    else
      append_csv_name(text, distinct_text(name));
  }
  text.append(',');
  if (const auto provider = provider_of(event)) append_guid(text, provider->bytes);
  text.append(',');
  append_csv_name(text, shown(kind.provider_name));
  text.append(',');
  append_csv_name(text, shown(kind.name));
  optional(has_id(event.event_class) ? std::optional{event.id} : std::nullopt);
  optional(has_opcode(event) ? std::optional{event.opcode} : std::nullopt);
  optional(has_version(event.event_class) ? std::optional{event.version} : std::nullopt);
  optional(has_level(event) ? std::optional{event.level} : std::nullopt);
  text.append(',');
  if (event.event_class == EventClass::manifest) text.append_hex(event.keywords);
  text.append(',');
  if (const auto activity = activity_of(event)) append_guid(text, activity->bytes);
  text.append(',');
  scratch_.clear();
  details_.clear();
  scratch_.append('{');
  const auto decoded = append_payload(scratch_, event, kind);
  scratch_.append('}');
  text.append(to_string(decoded));
  text.append(',');
  append_csv(text, scratch_.view());
  text.append(',');
  // The details are members with a comma before each; the first comma becomes the brace.
  scratch_.clear();
  append_details(scratch_, event, kind);
  append_csv(text, fmt::format("{{{}}}", scratch_.view().substr(1)));
  end_csv(text, event.file);
}

}  // namespace coldtrace::cli
