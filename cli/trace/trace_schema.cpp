#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/standard_input.hpp"
#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_header.hpp"
#include "coldtrace/tracefile/schema-language/built_in_schemas.hpp"
#include "coldtrace/tracefile/schema-language/schema_c_header.hpp"
#include "coldtrace/tracefile/schema-language/schema_layout.hpp"
#include "coldtrace/tracefile/schema-language/schema_parser.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::FieldAmount;
using tracefile::FieldDeclaration;
using tracefile::Schema;

struct TraceSchemaOptions : CommonOptions {
  std::vector<std::string> files;
};

// The schema text of a built-in schema, of a .ctrace file, or of a text file.
std::optional<std::string> read_schema_text(const std::string& path, Report& report) {
  for (const auto& schema : tracefile::built_in_schemas())
    if (schema.name == path) return std::string{schema.text};
  if (path == "-") {
    const auto bytes = core::read_whole_file(readable_path(path), tracefile::largest_schema_text);
    if (bytes) return std::string{core::to_chars(*bytes)};
    report.failed(path, bytes.error());
    return std::nullopt;
  }
  const auto file = core::FileImage::open(path);
  if (!file) {
    report.failed(path, file.error());
    return std::nullopt;
  }
  if (tracefile::is_ctrace(**file)) {
    auto header = tracefile::read_ctrace_header(**file);
    if (!header) {
      report.failed(path, header.error());
      return std::nullopt;
    }
    return std::move(header->schema_text);
  }
  const auto size = (*file)->size();
  if (size > tracefile::largest_schema_text) {
    report.failed(path, "longer than a schema text can be");
    return std::nullopt;
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  if (const auto read = (*file)->read_at(0, bytes); !read) {
    report.failed(path, read.error());
    return std::nullopt;
  }
  return std::string{core::to_chars(bytes)};
}

// All schemas of all files, or what is wrong with them.
struct ReadSchemas {
  std::vector<Schema> schemas;
  std::vector<std::string> errors;  // "driver.schema:12:7: expected ';'"
  bool unreadable = false;          // what `report` said
};

ReadSchemas read_schemas(const TraceSchemaOptions& options, Report& report) {
  ReadSchemas read;
  std::string all;
  for (const auto& path : options.files) {
    const auto text = read_schema_text(path, report);
    if (!text) {
      read.unreadable = true;
      continue;
    }
    if (const auto schemas = tracefile::parse_schemas(*text); !schemas)
      read.errors.push_back(fmt::format("{}:{}", printable(path), to_string(schemas.error())));
    all += *text;
    all += '\n';
  }
  if (read.unreadable || !read.errors.empty()) return read;
  // Alone they are correct: names, GUIDs and ids of two can be the same.
  if (auto schemas = tracefile::parse_schemas(all))
    read.schemas = std::move(*schemas);
  else
    read.errors.push_back(fmt::format("together: {}", schemas.error().message));
  return read;
}

std::string type_text(const FieldDeclaration& field) {
  auto text = std::string{keyword_of(field.type)};
  if (!field.type_name.empty()) text += fmt::format(" {}", field.type_name);
  return text;
}

std::string amount_text(const FieldAmount& amount) {
  switch (amount.kind) {
    case FieldAmount::Kind::fixed:
      return fmt::format("[{}]", amount.number);
    case FieldAmount::Kind::counted:
      return fmt::format("[{}]", amount.counter);
    case FieldAmount::Kind::rest:
      return "[]";
    case FieldAmount::Kind::none:
      break;
  }
  return {};
}

std::string offset_text(std::optional<u32> offset) {
  return offset ? fmt::format("{}", *offset) : std::string{"-"};
}

void show_text(Output& output, const std::vector<Schema>& schemas) {
  for (const auto& schema : schemas) {
    print(output, "{} {} {}\n", schema.name, core::to_string(schema.guid), schema.description);
    for (const auto& event : schema.events) {
      print(output, "\n{:#06x} {} version {}  {}\n", event.id, event.name, event.version,
            event.description);
      const auto in32 = compute_layout(schema, event.fields, 4);
      const auto in64 = compute_layout(schema, event.fields, 8);
      for (std::size_t i = 0; i < event.fields.size(); ++i) {
        const auto& field = event.fields[i];
        print(output, "{:>6} {:>6}  {} {}{}{}{}  {}\n", offset_text(in32.fields[i].offset),
              offset_text(in64.fields[i].offset), type_text(field), field.name,
              amount_text(field.amount),
              field.meaning == tracefile::FieldMeaning::none
                  ? ""
                  : fmt::format(" is {}", keyword_of(field.meaning)),
              field.unit.empty() ? "" : fmt::format(" [{}]", field.unit), field.description);
      }
    }
    print(output, "\n");
  }
}

void write_fields(JsonWriter& json, const Schema& schema,
                  const std::vector<FieldDeclaration>& fields) {
  const auto in32 = compute_layout(schema, fields, 4);
  const auto in64 = compute_layout(schema, fields, 8);
  json.key("fields").begin_array();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& field = fields[i];
    json.begin_object().field("name", field.name).field("type", type_text(field));
    json.field("amount", MaybeText{amount_text(field.amount)});
    json.field("meaning", MaybeText{keyword_of(field.meaning)});
    json.field("unit", MaybeText{field.unit});
    json.field("description", MaybeText{field.description});
    json.field("member", tracefile::c_member(field.name))
        .field("offset32", in32.fields[i].offset)
        .field("size32", in32.fields[i].size)
        .field("offset64", in64.fields[i].offset)
        .field("size64", in64.fields[i].size)
        .end_object();
  }
  json.end_array().field("size32", in32.size).field("size64", in64.size);
}

void show_json(JsonWriter& json, const std::vector<Schema>& schemas) {
  json.begin_object()
      .field("schema", "coldtrace.trace-schema/1")
      .field("tool", tool_version)
      .key("schemas")
      .begin_array();
  for (const auto& schema : schemas) {
    json.begin_object().field("name", schema.name).field("guid", core::to_string(schema.guid));
    json.field("description", MaybeText{schema.description});
    json.key("enums").begin_array();
    for (const auto& declaration : schema.enums) {
      json.begin_object()
          .field("name", declaration.name)
          .field("bits", declaration.bits)
          .field("base", keyword_of(declaration.base));
      json.key("values").begin_array();
      for (const auto& entry : declaration.entries)
        json.begin_object().field("name", entry.name).field("value", entry.value).end_object();
      json.end_array().end_object();
    }
    json.end_array().key("structs").begin_array();
    for (const auto& declaration : schema.structs) {
      json.begin_object()
          .field("name", declaration.name)
          .field("c_name", tracefile::c_name(schema, declaration.name));
      write_fields(json, schema, declaration.fields);
      json.end_object();
    }
    json.end_array().key("events").begin_array();
    for (const auto& event : schema.events) {
      json.begin_object()
          .field("name", event.name)
          .field("c_name", tracefile::c_name(schema, event.name, event.version))
          .field("id", event.id)
          .field("version", event.version);
      json.field("description", MaybeText{event.description});
      write_fields(json, schema, event.fields);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object().end_document();
}

enum class Action : u8 { check, show, c_header };

// An error is the answer of a check, and the end of everything else.
Exit refuse(const TraceSchemaOptions& options, const std::vector<std::string>& errors,
            Action action, Report& report) {
  if (action != Action::check) {
    for (const auto& error : errors) report.failed("schema", error);
    return Exit::failure;
  }
  Output output{options.output};
  for (const auto& error : errors) print(output, "{}\n", error);
  output.commit();
  report.mismatch();
  return report.exit();
}

Exit run_trace_schema(const TraceSchemaOptions& options, Action action) {
  Report report{options.findings};
  const auto read = read_schemas(options, report);
  if (read.unreadable) return Exit::failure;
  if (!read.errors.empty()) return refuse(options, read.errors, action, report);
  Output output{options.output};
  if (action == Action::check) {
    std::size_t events = 0;
    for (const auto& schema : read.schemas) events += schema.events.size();
    print(output, "{}, {}\n", counted(read.schemas.size(), "schema", "schemas"),
          counted(events, "event", "events"));
  } else if (action == Action::c_header) {
    output.write(to_c_header(read.schemas));
  } else if (options.format == "json") {
    JsonWriter json{output, options.int64};
    show_json(json, read.schemas);
  } else {
    show_text(output, read.schemas);
  }
  output.commit();
  return report.exit();
}

void add_action(CLI::App& group, const CommandHelp& help, const std::vector<std::string>& formats,
                Action action, Exit& exit) {
  add_command<TraceSchemaOptions>(
      group, exit, help, formats,
      [](Command& command, TraceSchemaOptions& options) {
        std::string built_in;
        for (const auto& schema : tracefile::built_in_schemas())
          built_in += fmt::format("{}{}", built_in.empty() ? "" : ", ", schema.name);
        command
            .add_input("FILE", options.files,
                       "Schema texts, .ctrace files, or built-in schemas: " + built_in)
            .required();
      },
      [action](const TraceSchemaOptions& options) { return run_trace_schema(options, action); });
}

constexpr const char* check_exits =
    "  0  all schemas are correct, alone and together\n"
    "  1  one has an error, which is written with its line and column\n"
    "  2  one cannot be read\n";
constexpr const char* exits =
    "  0  it was written\n"
    "  2  a schema has an error or cannot be read, or the output cannot be written\n";

}  // namespace

void add_trace_schema(CLI::App& app, Exit& exit) {
  add_group(app, "schema", "Schemas of the events of .ctrace files", [&exit](CLI::App& group) {
    add_action(group,
               {"check", "Check schema texts, each alone and all together",
                "  coldtrace trace schema check driver.schema\n"
                "  coldtrace trace schema check wmk driver.schema\n",
                check_exits},
               {"text"}, Action::check, exit);
    add_action(
        group,
        {"show",
         "Show events with their fields, and the offsets of these with pointers of 4 and 8 bytes",
         "  coldtrace trace schema show wmk\n"
         "  coldtrace trace schema show run.ctrace --format json\n",
         exits},
        {"text", "json"}, Action::show, exit);
    add_action(group,
               {"c-header", "Write packed C structures and type ids for the driver",
                "  coldtrace trace schema c-header driver.schema -o driver_events.h\n", exits},
               {"text"}, Action::c_header, exit);
  });
}

}  // namespace coldtrace::cli
