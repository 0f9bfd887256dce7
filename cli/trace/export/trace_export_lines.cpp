#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/command/common_options.hpp"
#include "cli/output/exact_text.hpp"
#include "cli/output/json.hpp"
#include "cli/output/text_time.hpp"
#include "cli/sqlite/json_values.hpp"
#include "cli/trace/export/ecs_kinds.hpp"
#include "cli/trace/export/event_lines.hpp"
#include "cli/trace/trace_export_commands.hpp"
#include "coldtrace/trace_export/export_findings.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

constexpr std::size_t longest_message = 1024;  // bytes, but for the last value

std::optional<i64> number_of(const Value& object, const char* name) {
  const auto& value = member_of(object, name);
  return value.IsInt64() ? std::optional{value.GetInt64()} : std::nullopt;
}

// "Process/Start", or "event 160" of one without a name.
std::string action_of(const Value& event) {
  const auto name = text_of(event, "name");
  if (!name.empty()) return std::string{name};
  const auto id = number_of(event, "id");
  const auto opcode = number_of(event, "opcode");
  return id ? fmt::format("event {}", *id) : opcode ? fmt::format("opcode {}", *opcode) : "event";
}

// "[Thread/Start] a.exe (100), thread 101: ThreadId=102, ..."
std::string message_of(const Value& event) {
  std::string message = fmt::format("[{}]", action_of(event));
  const auto process = distinct_text(exact_of(event, "process"));
  const auto pid = number_of(event, "pid");
  if (!process.empty()) message += fmt::format(" {}", process);
  if (pid) message += fmt::format(" ({})", *pid);
  if (const auto tid = number_of(event, "tid")) message += fmt::format(", thread {}", *tid);
  const auto& fields = member_of(event, "fields");
  std::string_view separator = ": ";
  if (fields.IsObject()) {
    for (const auto& field : fields.GetObject()) {
      if (message.size() > longest_message) {
        message += ", ...";
        break;
      }
      message += separator;
      message.append(field.name.GetString(), field.name.GetStringLength());
      message += '=';
      message += plain_of(field.value);
      separator = ", ";
    }
  }
  return message;
}

// Microseconds since 1970, as plaso counts.
i64 microseconds_of(core::FileTime time) {
  constexpr u64 epoch = core::file_time_from_unix(0).ticks;
  return static_cast<i64>(time.ticks / 10) - static_cast<i64>(epoch / 10);
}

// Whether it says itself of which process it is.
bool is_about_process(const Value& event) {
  const auto& fields = member_of(event, "fields");
  return text_of(event, "name").starts_with("Process/") && number_of(fields, "ProcessId") &&
         !text_of(fields, "ImageFileName").empty();
}

// How much of the event is understood and by which schema, the bytes that are not, and what is not
// as its header says.
void write_quality(JsonWriter& json, const Value& event) {
  for (const auto* const name : {"decoded", "raw_reason", "payload", "trailing", "time_quality",
                                 "thread_source", "schema_file", "schema_file_version"})
    if (const auto text = text_of(event, name); !text.empty()) json.field(name, text);
  for (const auto* const name : {"schema_buffer", "schema_version"})
    if (const auto number = number_of(event, name)) json.field(std::string_view{name}, *number);
}

// Members of a line that have members or elements of their own.
constexpr std::array structured{"names",         "resolved",      "extended", "stack",
                                "trace_message", "trace_control", "etw",      "message_pdb"};

// As one text of JSON each.
void write_structured_texts(JsonWriter& json, const Value& event) {
  for (const auto* const name : structured)
    if (const auto& value = member_of(event, name); !value.IsNull())
      json.field(std::string_view{name}, json_of(value));
}

// Each member of the object as a text.
void write_texts(JsonWriter& json, std::string_view name, const Value& object) {
  if (!object.IsObject() || object.MemberCount() == 0) return;
  json.key(name).begin_object();
  for (const auto& member : object.GetObject())
    json.field(std::string_view{member.name.GetString(), member.name.GetStringLength()},
               plain_of(member.value));
  json.end_object();
}

// The value as it is, whose members have the same types in all events.
void write_same(JsonWriter& json, const char* name, const Value& event) {
  const auto& value = member_of(event, name);
  if (value.IsNull()) return;
  std::vector<core::TextBuffer> pieces(1);
  pieces.front().append(json_of(value));
  json.key(std::string_view{name}).written(pieces);
}

class LineFormat {
 public:
  virtual ~LineFormat() = default;
  // False where the format has no place for it.
  virtual bool write(JsonWriter& json, const EventLine& line) = 0;

 protected:
  LineFormat() = default;
  LineFormat(const LineFormat&) = default;
  LineFormat& operator=(const LineFormat&) = default;
};

// Source: Timesketch, "Create timeline from JSON/JSONL/CSV"; attributes as plaso names them.
class TimesketchLines final : public LineFormat {
 public:
  bool write(JsonWriter& json, const EventLine& line) override {
    if (!line.time) return false;
    const auto& event = line.json;
    const auto& provider = member_of(event, "provider");
    const auto process = exact_of(event, "process");
    json.begin_object()
        .field("message", message_of(event))
        .field("datetime", plaso_time(*line.time))
        .field("timestamp", microseconds_of(*line.time))
        .field("timestamp_desc", "Event Logged")
        .field("data_type", "windows:etl:event")
        .field("source_short", "ETW")
        .field("source_long", "Event Tracing for Windows")
        .field("parser", "coldtrace")
        .field("event_time", core::to_string(*line.time))
        .field("event_name", text_or_null(text_of(event, "name")))
        .field("event_identifier", number_of(event, "id"))
        .field("event_opcode", number_of(event, "opcode"))
        .field("event_version", number_of(event, "version"))
        .field("event_level", number_of(event, "level"))
        .field("event_keywords", text_or_null(text_of(event, "keywords")))
        .field("activity_id", text_or_null(text_of(event, "activity")))
        .field("provider_name", text_or_null(text_of(provider, "name")))
        .field("provider_identifier", text_or_null(text_of(provider, "guid")))
        .field("cpu", number_of(event, "cpu"))
        .field("pid", number_of(event, "pid"))
        .field("tid", number_of(event, "tid"))
        .field("process_name", ExactText{text_or_null(std::string_view{process})})
        .field("trace_file", text_or_null(text_of(event, "file")))
        // One text: names of fields have other types in other events, which an index refuses.
        .field("event_data", json_of(member_of(event, "fields")));
    write_quality(json, event);
    if (const auto text = text_of(event, "message"); !text.empty()) json.field("event_text", text);
    write_structured_texts(json, event);
    json.end_object().end_document();
    return true;
  }
};

// Source: Elastic Common Schema 8.17; event_data as Winlogbeat writes it.
class EcsLines final : public LineFormat {
 public:
  explicit EcsLines(const tracefile::AnyTrace& trace)
      : kernel_{trace.windows_build()}, dataset_{fmt::format("coldtrace.{}", trace.format())} {}

  bool write(JsonWriter& json, const EventLine& line) override {
    ++sequence_;
    if (!line.time) return false;
    const auto& event = line.json;
    json.begin_object().field("@timestamp", core::to_string(*line.time));
    json.key("ecs").object("version", "8.17.0");
    json.field("message", message_of(event));
    write_event(json, event);
    write_process(json, event);
    if (const auto file = text_of(event, "file"); !file.empty())
      json.key("log").begin_object().key("file").object("path", file).end_object();
    json.key("host").begin_object().key("os").begin_object().field("type", "windows");
    if (!kernel_.empty()) json.field("kernel", kernel_);
    json.end_object().end_object();
    write_winlog(json, event);
    json.key("coldtrace").begin_object();
    write_quality(json, event);
    write_rest(json, event);
    json.end_object().end_object().end_document();
    return true;
  }

 private:
  void write_event(JsonWriter& json, const Value& event) {
    const auto name = text_of(event, "name");
    json.key("event").begin_object().field("kind", "event");
    if (const auto* const kind = find_ecs_kind(name)) {
      json.key("category").begin_array();
      const auto space = std::min(kind->category.find(' '), kind->category.size());
      json.value(kind->category.substr(0, space));
      if (space < kind->category.size()) json.value(kind->category.substr(space + 1));
      json.end_array();
      if (!kind->type.empty()) json.key("type").begin_array().value(kind->type).end_array();
    }
    json.field("action", action_of(event)).field("dataset", dataset_).field("sequence", sequence_);
    const auto& provider = member_of(event, "provider");
    const auto provider_name = text_of(provider, "name");
    json.field("provider", provider_name.empty() ? text_or_null(text_of(provider, "guid"))
                                                 : std::optional{provider_name});
    const auto code = number_of(event, "id") ? number_of(event, "id") : number_of(event, "opcode");
    if (code) json.field("code", fmt::format("{}", *code));
    json.end_object();
  }

  // Of an event about a process that process, else the one that logged it.
  static void write_process(JsonWriter& json, const Value& event) {
    const auto& fields = member_of(event, "fields");
    const bool about = is_about_process(event);
    const auto pid = about ? number_of(fields, "ProcessId") : number_of(event, "pid");
    if (!pid) return;
    json.key("process").begin_object().field("pid", *pid);
    const auto name = about ? text_of(fields, "ImageFileName") : text_of(event, "process");
    if (!name.empty()) json.field("name", name);
    if (about) {
      if (const auto line = text_of(fields, "CommandLine"); !line.empty())
        json.field("command_line", line);
      if (const auto parent = number_of(fields, "ParentId"))
        json.key("parent").object("pid", *parent);
    } else if (const auto tid = number_of(event, "tid")) {
      json.key("thread").object("id", *tid);
    }
    json.end_object();
  }

  static void write_winlog(JsonWriter& json, const Value& event) {
    const auto& provider = member_of(event, "provider");
    json.key("winlog").begin_object();
    if (const auto guid = text_of(provider, "guid"); !guid.empty())
      json.field("provider_guid", fmt::format("{{{}}}", guid));
    if (const auto version = number_of(event, "version")) json.field("version", *version);
    if (const auto opcode = number_of(event, "opcode"))
      json.field("opcode", fmt::format("{}", *opcode));
    if (const auto activity = text_of(event, "activity"); !activity.empty())
      json.field("activity_id", fmt::format("{{{}}}", activity));
    write_texts(json, "event_data", member_of(event, "fields"));
    json.end_object();
  }

  // What the schema has no place for.
  static void write_rest(JsonWriter& json, const Value& event) {
    if (const auto units = text_of(event, "process_utf16");
        !units.empty() && !is_about_process(event))
      json.field("process_utf16", units);
    if (const auto level = number_of(event, "level")) json.field("level", *level);
    for (const auto* const name : {"keywords", "message"})
      if (const auto text = text_of(event, name); !text.empty()) json.field(name, text);
    for (const auto* const name :
         {"names", "stack", "trace_message", "trace_control", "message_pdb"})
      write_same(json, name, event);
    write_texts(json, "resolved", member_of(event, "resolved"));
    write_texts(json, "extended", member_of(event, "extended"));
    // Its fields have other types in other events.
    if (const auto& logged = member_of(event, "etw"); !logged.IsNull())
      json.field("etw", json_of(logged));
  }

  std::string kernel_;
  std::string dataset_;
  u64 sequence_ = 0;
};

Exit write_lines(EventExport& exporting, const EventExportOptions& options, LineFormat& format) {
  Output output{options.output};
  JsonWriter json{output, options.int64};
  u64 untimed = 0, written = 0;
  exporting.each([&](const EventLine& line) {
    if (line.event == nullptr) return;
    if (format.write(json, line))
      ++written;
    else
      ++untimed;
    output.make_room();
  });
  trace_export::note_untimed(untimed, exporting.input().findings);
  return exporting.finish(output);
}

Exit run_timesketch(const EventExportOptions& options) {
  EventExport exporting{options};
  if (!exporting.opened()) return Exit::failure;
  TimesketchLines format;
  return write_lines(exporting, options, format);
}

Exit run_ecs(const EventExportOptions& options) {
  EventExport exporting{options};
  if (!exporting.opened()) return Exit::failure;
  EcsLines format{exporting.input().trace};
  return write_lines(exporting, options, format);
}

constexpr const char* exits =
    "  0  the whole trace was read\n"
    "  1  the trace has damage or loss, or lacks what was asked for; the rest was written\n"
    "  2  not a trace, or it cannot be read or written\n";

}  // namespace

void add_trace_export_timesketch(CLI::App& app, Exit& exit) {
  add_command<EventExportOptions>(
      app, exit,
      {"timesketch", "Export every event as a line of JSON for Timesketch, with plaso's names",
       "  coldtrace trace export timesketch run.etl -o run.jsonl\n"
       "  coldtrace trace export timesketch run.etl --event Process,Image -o programs.jsonl\n",
       exits},
      {"jsonl"}, add_event_export_options, run_timesketch);
}

void add_trace_export_ecs(CLI::App& app, Exit& exit) {
  add_command<EventExportOptions>(
      app, exit,
      {"ecs", "Export every event as a line of JSON for Elastic, in its Common Schema",
       "  coldtrace trace export ecs run.etl -o run.jsonl\n"
       "  coldtrace trace export ecs run.etl --event TcpIp,UdpIp -o network.jsonl\n",
       exits},
      {"jsonl"},
      [](Command& command, EventExportOptions& options) {
        add_event_export_options(command, options);
        options.output.other_ending = ".json";  // as Elastic's own examples are called
      },
      run_ecs);
}

}  // namespace coldtrace::cli
