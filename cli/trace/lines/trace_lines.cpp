#include "cli/trace/lines/trace_lines.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/exact_text.hpp"
#include "cli/output/json_text.hpp"
#include "cli/output/literal.hpp"
#include "cli/trace/lines/event_text.hpp"
#include "cli/trace/lines/trace_text.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/etl/buffer_walker.hpp"
#include "coldtrace/tracefile/names/event_stack.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"
#include "coldtrace/tracefile/providers/extended_data.hpp"

namespace coldtrace::cli {
namespace {

using core::TextBuffer;
using tracefile::Decoded;
using tracefile::Event;
using tracefile::EventClass;
using tracefile::EventKind;

// Text of a stack's names. A reference of a few bytes may stand for a stack of 256 frames.
constexpr std::size_t least_frame_names = 4096;
constexpr std::size_t frame_names_per_frame = 128;

// Bytes; the 255 UTF-16 units that a file's name may have are 765 bytes of UTF-8 at most.
constexpr std::size_t longest_name = 1024;

void append_frame_name(TextBuffer& json, const trace_analysis::FunctionName& name) {
  const bool is_method = name.source == trace_analysis::NameSource::method;
  if (!name.module.empty()) {
    append_exact_text(json, "module", name.module);
    if (!is_method) {
      json.append(",\"offset\":\"");
      json.append_hex(name.module_offset);
      json.append('"');
    }
  }
  if (name.function.empty()) return;
  append_exact_text(json, "function", name.place());
  json.append(",\"source\":\"");
  json.append(to_string(name.source));
  json.append('"');
  if (!name.tier.empty()) {
    json.append(",\"tier\":\"");
    json.append(name.tier);
    json.append('"');
  }
  if (name.is_cold) json.append(",\"part\":\"cold\"");
}

}  // namespace

TraceLines::TraceLines(const TraceContext& context, const TraceLineOptions& options)
    : trace_{context},
      options_{options},
      decoder_{context.schemas},
      frames_{context.names, context.functions},
      fields_{context.clock, context.names, context.calls, &frames_, options.int64},
      etw_fields_{context.clock, context.names, nullptr, nullptr, options.int64},
      message_{context.clock, context.parameters} {
  for (auto* const fields : {&fields_, &etw_fields_})
    fields->protect(context.hashed, context.sealing_key);
}

void TraceLines::append_event(TextBuffer& text, const Event& event,
                              const tracefile::AttachedStack* stack) {
  attached_ = stack;
  const auto& kind = decoder_.kind_of(event);
  cut_ = false;
  if (options_.chosen) {
    whole_.clear();
    append_json_event(whole_, event, kind);
    append_chosen(text);
  } else if (options_.format == TraceFormat::text) {
    whole_.clear();
    append_json_event(whole_, event, kind);
    append_event_text(text, json_.read(whole_.view()));
  } else if (options_.format == TraceFormat::csv) {
    append_csv_event(text, event, kind);
  } else {
    if (options_.format == TraceFormat::json) text.append(',');
    append_json_event(text, event, kind);
  }
  if (cut_) ++cut_names_;
}

// Of the whole line.
void TraceLines::append_chosen(TextBuffer& text) const {
  if (options_.format == TraceFormat::csv) {
    options_.chosen->append_csv(text, whole_.view());
    return;
  }
  if (options_.format == TraceFormat::json) text.append(',');
  options_.chosen->append_json(text, whole_.view());
}

void TraceLines::append_file(TextBuffer& json, u16 file) const {
  if (trace_.files.empty()) return;
  json.append(",\"file\":");
  append_json_text(json, trace_.files[file]);
}

std::string_view TraceLines::shown(std::string_view name) {
  if (name.size() <= longest_name) return name;
  cut_ = true;
  return {};
}

std::optional<core::FileTime> TraceLines::time_of(const tracefile::Gap& gap) const {
  if (gap.file_time != 0) return core::FileTime{gap.file_time};
  return gap.timestamp ? trace_.clock.get().find_file_time(*gap.timestamp) : std::nullopt;
}

void TraceLines::append_times(TextBuffer& json, std::optional<core::FileTime> time,
                              std::optional<i64> timestamp) {
  append_literal(json, "\"time\":");
  if (time) {
    json.append('"');
    json.append(times_.format(*time));
    json.append('"');
  } else {
    append_literal(json, "null");
  }
  append_literal(json, ",\"timestamp\":");
  if (timestamp)
    append_json_integer(json, *timestamp, options_.int64);
  else
    json.append("null");
}

void TraceLines::append_process(TextBuffer& json, const Event& event) {
  const auto time = event.name_time();
  if (event.pid && process_.pid == event.pid && process_.from <= time && time < process_.to) {
    json.append(process_.json);
    return;
  }
  tracefile::NameValidity validity{time};
  const auto name =
      event.pid ? trace_.names.get().find_process(*event.pid, time, validity) : std::nullopt;
  if (!name || (!name->empty() && shown(*name).empty())) {
    append_literal(json, "null");
    return;
  }
  scratch_.clear();
  if (trace_.hashed != nullptr) {
    append_json_text(scratch_, trace_.hashed->name(*name));
  } else if (const auto units = append_shown_text(scratch_, *name); !units.empty()) {
    scratch_.append(",\"process_utf16\":\"");
    scratch_.append(units);
    scratch_.append('"');
  }
  process_ = {event.pid, validity.from(), validity.to(), std::string{scratch_.view()}};
  json.append(process_.json);
}

TraceLines::KindText& TraceLines::texts_of(const EventKind& kind) {
  if (kind.number >= kind_texts_.size()) kind_texts_.resize(kind.number + std::size_t{1});
  return kind_texts_[kind.number];
}

const std::string& TraceLines::kind_text(const EventKind& kind) {
  auto& cached = texts_of(kind);
  if (cached.ready) {
    cut_ |= cached.cut;
    return cached.provider;
  }
  TextBuffer json;
  json.append("\"provider\":{\"guid\":");
  if (const auto provider = provider_of(kind)) {
    json.append('"');
    append_guid(json, provider->bytes);
    json.append('"');
  } else {
    json.append("null");
  }
  json.append(",\"name\":");
  const bool cut_before = std::exchange(cut_, false);
  const auto name_or_null = [&](std::string_view name) {
    if (name.empty())
      json.append("null");
    else
      append_json_text(json, name);
  };
  name_or_null(shown(kind.provider_name));
  json.append("},\"name\":");
  name_or_null(shown(kind.name));
  json.append(",\"id\":");
  append_optional(json, has_id(kind.event_class) ? std::optional{kind.id} : std::nullopt);
  cached.provider = json.view();
  cached.ready = kind.kept;
  cached.cut = cut_;
  cut_ |= cut_before;
  return cached.provider;
}

// From the provider up to the keywords. Mostly the next event of a kind has the same.
const std::string& TraceLines::header_text(const Event& event, const EventKind& kind) {
  auto& provider = kind_text(kind);
  auto& cached = texts_of(kind).header;
  if (kind.kept && cached.is_of(event)) return cached.json;
  TextBuffer json;
  json.append(provider);
  json.append(",\"opcode\":");
  append_optional(json, has_opcode(event) ? std::optional{event.opcode} : std::nullopt);
  json.append(",\"version\":");
  append_optional(json,
                  has_version(event.event_class) ? std::optional{event.version} : std::nullopt);
  json.append(",\"level\":");
  append_optional(json, has_level(event) ? std::optional{event.level} : std::nullopt);
  json.append(",\"keywords\":");
  if (event.event_class == EventClass::manifest) {
    json.append('"');
    json.append_hex(event.keywords);
    json.append('"');
  } else {
    json.append("null");
  }
  cached = {true,        event.opcode,   event.version,
            event.level, event.keywords, std::string{json.view()}};
  return cached.json;
}

void TraceLines::append_json_event(TextBuffer& text, const Event& event, const EventKind& kind) {
  append_literal(text, "{\"type\":\"event\",");
  append_times(text, tracefile::time_of(event, trace_.clock),
               event.has_time ? std::optional{event.timestamp} : std::nullopt);
  if (trace_.clock.get().approximate() || event.approximate_time)
    append_literal(text, ",\"time_quality\":\"approximate\"");
  append_literal(text, ",\"cpu\":");
  append_optional(text, event.cpu);
  append_literal(text, ",\"pid\":");
  append_optional(text, event.pid);
  append_literal(text, ",\"tid\":");
  append_optional(text, event.tid);
  append_literal(text, ",\"process\":");
  append_process(text, event);
  text.append(',');
  text.append(header_text(event, kind));
  append_literal(text, ",\"activity\":");
  if (const auto activity = activity_of(event)) {
    text.append('"');
    append_guid(text, activity->bytes);
    text.append('"');
  } else {
    append_literal(text, "null");
  }
  append_literal(text, ",\"fields\":{");
  details_.clear();
  const auto decoded = append_payload(text, event, kind);
  text.append('}');
  append_details(text, event, kind);
  append_literal(text, ",\"decoded\":\"");
  text.append(to_string(decoded));
  text.append('"');
  append_file(text, event.file);
  append_literal(text, "}\n");
}

// Null where events of the kind may have several schemas, or none.
const FixedFieldsText* TraceLines::fixed_text(const EventKind& kind, u8 pointer_size) {
  if (!kind.kept || !kind.schema || !kind.others.empty()) return nullptr;
  auto& text = texts_of(kind).fixed[pointer_size == 8 ? 1 : 0];
  if (!text)
    text = std::make_unique<FixedFieldsText>(kind, pointer_size, trace_.clock.get().known());
  return text.get();
}

// Members of the object `fields`; what is left of the payload goes to details_.
Decoded TraceLines::append_payload(TextBuffer& json, const Event& event, const EventKind& kind) {
  fields_.start(json, event, kind, event.name_time());
  const auto* const fixed = fixed_text(kind, event.pointer_size);
  const auto read =
      fixed != nullptr ? fields_.append_fixed(*fixed, event.payload) : tracefile::FixedFields{};
  const auto result = decoder_.decode(event, kind, fields_, read);
  counter_.count(kind, result.decoded);
  if (result.decoded == Decoded::raw) {
    details_.append(",\"raw_reason\":\"");
    details_.append(to_string(kind.undecoded));
    details_.append('"');
  }
  if (result.decoded == Decoded::exact || (kind.schema && kind.schema->encrypted) ||
      trace_.hashed != nullptr)
    return result.decoded;
  const auto rest = event.payload.subspan(std::min(result.consumed, event.payload.size()));
  if (rest.empty() && result.decoded == Decoded::raw) return result.decoded;
  details_.append(result.decoded == Decoded::raw ? ",\"payload\":\"" : ",\"trailing\":\"");
  details_.append_hex(rest);
  details_.append('"');
  return result.decoded;
}

// What comes between fields and decoded.
void TraceLines::append_details(TextBuffer& json, const Event& event, const EventKind& kind) {
  if (kind.names) append_header_names(json, event, kind);
  const auto* const schema = decoder_.choose_schema(event, kind);
  append_schema_file(json, schema, kind);
  if (schema != nullptr && schema->version.value_or(kind.version) != kind.version) {
    json.append(",\"schema_version\":");
    json.append_decimal(u64{*schema->version});
  }
  if (trace_.hashed == nullptr) {
    append_message(json, schema, event);
    append_trace_message(json, schema, kind);
  }
  if (event.thread_source != tracefile::ThreadSource::header) {
    json.append(event.thread_source == tracefile::ThreadSource::payload
                    ? ",\"thread_source\":\"payload\""
                    : ",\"thread_source\":\"context_switch\"");
  }
  tracefile::find_stack(event, trace_.names.get().stacks(), stack_);
  if (!options_.frames && trace_.hashed == nullptr) resolve_stack(event);
  const auto& resolved = fields_.resolved();
  cut_ |= resolved.cut() || fields_.cut();
  if (!resolved.empty()) {
    json.append(",\"resolved\":{");
    resolved.append_to(json);
    json.append('}');
  }
  if (const auto* call = fields_.control_call(); call && trace_.hashed == nullptr)
    append_control_call(json, *call, trace_.windows);
  json.append(details_.view());
  if (!fields_.etw_event().empty()) append_etw_event(json, event);
  append_extended(json, event);
  if (options_.header_fields) append_header_fields(json, event);
  append_literal(json, ",\"stack\":");
  if (options_.frames)
    append_frames(json, event);
  else
    append_stack(json);
}

// Names of a stack's addresses, beside it.
void TraceLines::resolve_stack(const Event& event) {
  auto& resolved = fields_.resolved();
  resolved.allow(stack_.frames.size() * sizeof(u64));
  for (const auto frame : stack_.frames)
    resolved.add_element("stack", frames_.find_text(event.pid, frame, event.name_time()));
}

// The event that ETW gave to its callback, read as if it lay in a buffer of an .etl file. The
// schemas of manifest events are not in the trace, the kernel's and those of TraceLogging are.
void TraceLines::append_etw_event(TextBuffer& json, const Event& event) {
  tracefile::BufferWalker walker{fields_.etw_event(),
                                 {event.buffer_offset, event.pointer_size == 8, event.cpu},
                                 0,
                                 tracefile::OnDamage::stop};
  json.append(",\"etw\":");
  if (!walker.next()) {
    json.append("null");
    return;
  }
  const auto& inner = walker.event();
  const auto& kind = decoder_.kind_of(inner);
  json.append('{');
  json.append(kind_text(kind));
  json.append(",\"opcode\":");
  append_optional(json, has_opcode(inner) ? std::optional{inner.opcode} : std::nullopt);
  json.append(",\"version\":");
  append_optional(json,
                  has_version(inner.event_class) ? std::optional{inner.version} : std::nullopt);
  json.append(",\"pid\":");
  append_optional(json, inner.pid);
  json.append(",\"tid\":");
  append_optional(json, inner.tid);
  json.append(",\"fields\":{");
  etw_fields_.start(json, inner, kind, event.name_time());
  const auto result = decoder_.decode(inner, kind, etw_fields_);
  cut_ |= etw_fields_.cut();
  json.append('}');
  if (trace_.hashed == nullptr) append_message(json, decoder_.choose_schema(inner, kind), inner);
  json.append(",\"decoded\":\"");
  json.append(to_string(result.decoded));
  json.append("\"}");
}

void TraceLines::append_stack(TextBuffer& json) const {
  if (stack_.frames.empty()) {
    append_literal(json, "null");
    return;
  }
  char separator = '[';
  for (const auto frame : stack_.frames) {
    json.append(separator);
    json.append('"');
    json.append_hex(frame);
    json.append('"');
    separator = ',';
  }
  json.append(']');
}

// The event's own frames, or those that other events have of it, each with where it is.
void TraceLines::append_frames(TextBuffer& json, const Event& event) {
  const bool is_own = attached_ == nullptr || !stack_.frames.empty();
  const auto& frames = is_own ? stack_.frames : attached_->frames;
  const auto pid = is_own || !attached_->pid ? event.pid : attached_->pid;
  if (frames.empty()) {
    json.append("null");
    return;
  }
  auto room = least_frame_names + frame_names_per_frame * frames.size();
  char separator = '[';
  for (const auto frame : frames) {
    json.append(separator);
    separator = ',';
    json.append("{\"address\":\"");
    json.append_hex(frame);
    json.append('"');
    const auto& name = frames_.find(pid, frame, event.name_time());
    const auto size = name.module.size() + name.function.size();
    if (size > room) cut_ = true;
    if (name.known() && size <= room && trace_.hashed == nullptr) {
      room -= size;
      append_frame_name(json, name);
    }
    json.append('}');
  }
  json.append(']');
}

void TraceLines::append_header_fields(TextBuffer& json, const Event& event) {
  json.append(",\"header\":{\"type\":\"");
  json.append(event.event_class == EventClass::driver
                  ? "entry"
                  : to_string(static_cast<tracefile::HeaderType>(event.header_type)));
  json.append("\",\"buffer\":");
  json.append_decimal(event.buffer_offset);
  json.append(",\"offset\":");
  json.append_decimal(u64{event.offset});
  json.append(",\"size\":");
  json.append_decimal(u64{event.size});
  json.append(",\"payload_size\":");
  json.append_decimal(u64{event.payload.size()});
  json.append(",\"pointer_size\":");
  json.append_decimal(u64{event.pointer_size});
  json.append(",\"channel\":");
  json.append_decimal(u64{event.channel});
  json.append(",\"task\":");
  json.append_decimal(u64{event.task});
  json.append(",\"kernel_time\":");
  append_optional(json, event.kernel_time);
  json.append(",\"user_time\":");
  append_optional(json, event.user_time);
  json.append(",\"processor_time\":");
  if (const auto time = tracefile::find_processor_time(event))
    append_json_integer(json, *time, options_.int64);
  else
    json.append("null");
  json.append('}');
}

void TraceLines::append_gap(TextBuffer& text, const tracefile::Gap& gap) {
  const auto place = fmt::format("\"reason\":\"{}\",\"offset\":{},\"length\":{}{}{}",
                                 to_string(gap.reason), gap.offset, gap.length,
                                 gap.buffers > 0 ? fmt::format(",\"buffers\":{}", gap.buffers) : "",
                                 gap.events > 0 ? fmt::format(",\"events\":{}", gap.events) : "");
  if (options_.format == TraceFormat::text) {
    whole_.clear();
    append_json_gap(whole_, gap, place);
    append_event_text(text, json_.read(whole_.view()));
  } else if (options_.format != TraceFormat::csv) {
    if (options_.format == TraceFormat::json) text.append(',');
    append_json_gap(text, gap, place);
  } else if (options_.chosen) {
    whole_.clear();
    append_json_gap(whole_, gap, place);
    append_chosen(text);
  } else {
    append_csv_gap(text, gap, place);
  }
}

void TraceLines::append_json_gap(TextBuffer& text, const tracefile::Gap& gap,
                                 std::string_view place) {
  text.append("{\"type\":\"gap\",");
  append_times(text, time_of(gap), gap.timestamp);
  text.append(",\"cpu\":");
  append_optional(text, gap.cpu);
  text.append(fmt::format(",{}", place));
  append_file(text, gap.file);
  text.append("}\n");
}

}  // namespace coldtrace::cli
