#include "cli/output/json_text.hpp"
#include "cli/trace/lines/trace_lines.hpp"

namespace coldtrace::cli {

using core::TextBuffer;
using tracefile::Event;
using tracefile::EventKind;

std::string TraceLines::make_header_names(const Event& event,
                                          const tracefile::ProviderNames& names) {
  TextBuffer json;
  const auto add = [&](std::string_view key, std::string_view name) {
    if (name.empty()) return;
    json.append(json.view().empty() ? "\"" : ",\"");
    json.append(key);
    json.append("\":");
    append_json_text(json, shown(name));
  };
  add("task", names.find_task(event.task));
  add("opcode", names.find_opcode(event.opcode, event.task));
  add("level", names.find_level(event.level));
  add("channel", names.find_channel(event.channel));
  u64 rest = 0;
  const auto keywords = names.find_keywords(event.keywords, rest);
  if (keywords.empty()) return std::string{json.view()};
  json.append(json.view().empty() ? "\"keywords\":" : ",\"keywords\":");
  char separator = '[';
  for (const auto name : keywords) {
    json.append(separator);
    append_json_text(json, shown(name));
    separator = ',';
  }
  if (rest != 0) {
    json.append(",\"");
    json.append_hex(rest);
    json.append('"');
  }
  json.append(']');
  return std::string{json.view()};
}

void TraceLines::append_header_names(TextBuffer& json, const Event& event, const EventKind& kind) {
  if (kind.number >= header_names_.size()) header_names_.resize(kind.number + std::size_t{1});
  auto& known = header_names_[kind.number];
  if (!kind.kept || !known.is_of(event))
    known = {true,
             event.level,
             event.opcode,
             event.channel,
             event.task,
             event.keywords,
             make_header_names(event, *kind.names)};
  if (known.json.empty()) return;
  json.append(",\"names\":{");
  json.append(known.json);
  json.append('}');
}

// The file that declares the event, or null for the trace itself and what is built in; of the
// trace, the buffer.
void TraceLines::append_schema_file(TextBuffer& json, const tracefile::EventSchema* schema,
                                    const EventKind& kind) {
  const bool other = schema != kind.schema.get();
  if (other) ++other_schemas_;
  if (!other && !options_.schema_files && !(kind.varies && kind.schema)) return;
  json.append(",\"schema_file\":");
  const auto append = [&](const std::string* text) {
    if (text == nullptr || text->empty())
      json.append("null");
    else
      append_json_text(json, *text);
  };
  append(schema != nullptr ? &schema->source : nullptr);
  json.append(",\"schema_file_version\":");
  append(schema != nullptr ? &schema->source_version : nullptr);
  if (schema == nullptr || !schema->buffer) return;
  json.append(",\"schema_buffer\":");
  json.append_decimal(*schema->buffer);
}

void TraceLines::append_message(TextBuffer& json, const tracefile::EventSchema* schema,
                                const Event& event) {
  const bool is_trace_message = schema != nullptr && schema->trace_message != nullptr;
  if (!options_.messages && !is_trace_message) return;
  json.append(",\"message\":");
  if (schema == nullptr || schema->message.empty()) {
    json.append("null");
    return;
  }
  append_json_text(json, message_.make(*schema, event));
  cut_ |= message_.cut();
}

void TraceLines::append_trace_message(TextBuffer& json, const tracefile::EventSchema* schema,
                                      const EventKind& kind) const {
  const auto append = [&](std::string_view key, const std::string& text) {
    json.append(key);
    if (text.empty())
      json.append("null");
    else
      append_json_text(json, text);
  };
  if (schema != nullptr && schema->trace_message) {
    const auto& message = *schema->trace_message;
    append(",\"trace_message\":{\"component\":", message.component);
    append(",\"source_file\":", message.source_file);
    append(",\"function\":", message.function);
    append(",\"level\":", message.level);
    append(",\"flags\":", message.flags);
    json.append('}');
  } else if (kind.undecoded == tracefile::Undecoded::message_format && trace_.message_pdb) {
    const auto& pdb = *trace_.message_pdb;
    append(",\"message_pdb\":{\"name\":", pdb.name);
    json.append(",\"guid\":\"");
    json.append(core::to_string(pdb.guid));
    json.append("\",\"age\":");
    json.append_decimal(u64{pdb.age});
    json.append('}');
  }
}

}  // namespace coldtrace::cli
