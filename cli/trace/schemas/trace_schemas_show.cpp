#include <map>

#include <CLI/Error.hpp>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_schemas.hpp"
#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/tracefile/fields/type_names.hpp"
#include "coldtrace/where/where_value.hpp"

namespace coldtrace::cli {
namespace {

using schema_files::SchemaFiles;
using tracefile::FieldSchema;
using tracefile::ProviderNames;

struct TraceSchemasShowOptions : CommonOptions {
  std::string provider;
  SchemaOptions schemas;
};

std::optional<std::string> text_of(std::string_view name) {
  return name.empty() ? std::nullopt : std::optional{std::string{name}};
}

std::string type_of(const FieldSchema& field) {
  if (field.in == tracefile::InType::structure) return "struct";
  const auto name = manifest_name(field.in);
  return name.empty() ? fmt::format("type {}", static_cast<unsigned>(field.in)) : std::string{name};
}

// The field of the slot, of those before.
using SlotNames = std::map<u16, std::string>;

std::optional<std::string> amount_of(const FieldSchema::Amount& amount, const SlotNames& slots) {
  switch (amount.rule) {
    case FieldSchema::Rule::none:
      return std::nullopt;
    case FieldSchema::Rule::fixed:
      return fmt::format("{}", amount.number);
    case FieldSchema::Rule::slot: {
      const auto found = slots.find(amount.number);
      return found == slots.end() ? std::string{"?"} : found->second;
    }
    case FieldSchema::Rule::prefixed:
      return "prefixed";
    case FieldSchema::Rule::rest:
      break;
  }
  return "rest";
}

class TextShow {
 public:
  explicit TextShow(Output& output) : output_{output} {}

  void provider(const SchemaFiles::Declaration& found) {
    print(output_, "{} {}  {}{}{}\n", printable(found.declared.name()),
          core::to_string(found.declared.guid()), printable(found.file.path),
          found.file.version ? " " + printable(*found.file.version) : std::string{},
          found.recreated ? " (re-created)" : "");
  }
  void event(const tracefile::DeclaredEvent& numbers, const tracefile::EventSchema& schema,
             const ProviderNames& names) {
    u64 rest = 0;
    std::string keywords;
    for (const auto name : names.find_keywords(numbers.keywords, rest))
      keywords += " " + printable(name);
    const auto level = names.find_level(numbers.level);
    print(output_, "\n  {} version {}  {}  {}{}\n", numbers.id, numbers.version,
          schema.event_name.empty() ? "-" : printable(schema.event_name),
          level.empty() ? fmt::format("level {}", numbers.level) : printable(level), keywords);
    if (!schema.message.empty()) print(output_, "    \"{}\"\n", printable(schema.message));
    SlotNames slots;
    fields(schema.fields, slots, 4);
  }
  void end() { print(output_, "\n"); }

 private:
  void fields(const std::vector<FieldSchema>& all, SlotNames& slots, std::size_t indent) {
    for (const auto& field : all) {
      const auto length = amount_of(field.length, slots);
      const auto count = amount_of(field.count, slots);
      const auto out = manifest_name(field.out);
      print(output_, "{:{}}{} {}{}{}{}{}\n", "", indent, type_of(field), printable(field.name),
            length ? fmt::format(" length {}", printable(*length)) : "",
            count ? fmt::format("[{}]", printable(*count)) : "",
            out.empty() ? "" : fmt::format(" as {}", out),
            field.map ? fmt::format(" named by {}", printable(field.map->name)) : "");
      if (field.slot != 0) slots[field.slot] = field.name;
      fields(field.members, slots, indent + 2);
    }
  }

  Output& output_;
};

class JsonShow {
 public:
  explicit JsonShow(JsonWriter& json) : json_{json} {}

  void provider(const SchemaFiles::Declaration& found) {
    json_.begin_object()
        .field("guid", core::to_string(found.declared.guid()))
        .field("name", text_of(found.declared.name()))
        .field("recreated", found.recreated)
        .field("file", found.file.path)
        .field("file_version", found.file.version)
        .field("store", text_of(found.file.store))
        .field("sha256", text_of(found.file.sha256))
        .key("events")
        .begin_array();
  }
  void event(const tracefile::DeclaredEvent& numbers, const tracefile::EventSchema& schema,
             const ProviderNames& names) {
    u64 rest = 0;
    std::vector<std::string> keywords;
    for (const auto name : names.find_keywords(numbers.keywords, rest)) keywords.emplace_back(name);
    json_.begin_object()
        .field("id", numbers.id)
        .field("version", numbers.version)
        .field("name", text_of(schema.event_name))
        .field("message", text_of(schema.message))
        .field("channel", numbers.channel)
        .field("channel_name", text_of(names.find_channel(numbers.channel)))
        .field("level", numbers.level)
        .field("level_name", text_of(names.find_level(numbers.level)))
        .field("opcode", numbers.opcode)
        .field("opcode_name", text_of(names.find_opcode(numbers.opcode, numbers.task)))
        .field("task", numbers.task)
        .field("task_name", text_of(names.find_task(numbers.task)))
        .field("keywords", fmt::format("{:#x}", numbers.keywords))
        .field("keyword_names", keywords);
    SlotNames slots;
    fields(schema.fields, slots);
    json_.end_object();
  }
  void end() { json_.end_array().end_object(); }

 private:
  void fields(const std::vector<FieldSchema>& all, SlotNames& slots) {
    json_.key("fields").begin_array();
    for (const auto& field : all) {
      json_.begin_object()
          .field("name", field.name)
          .field("type", type_of(field))
          .field("shown_as", text_of(manifest_name(field.out)));
      write_amount("length", field.length, slots);
      write_amount("count", field.count, slots);
      json_.key("map");
      write_map(field.map.get());
      if (field.slot != 0) slots[field.slot] = field.name;
      if (field.in == tracefile::InType::structure) fields(field.members, slots);
      json_.end_object();
    }
    json_.end_array();
  }

  void write_amount(std::string_view key, const FieldSchema::Amount& amount,
                    const SlotNames& slots) {
    if (amount.rule == FieldSchema::Rule::fixed)
      json_.field(key, amount.number);
    else
      json_.field(key, amount_of(amount, slots));
  }

  void write_map(const tracefile::ValueMap* map) {
    if (map == nullptr) {
      json_.value(nullptr);
      return;
    }
    json_.begin_object().field("name", map->name).field("bits", map->bits).key("entries");
    json_.begin_array();
    for (const auto& entry : map->entries)
      json_.begin_object().field("value", entry.value).field("text", entry.text).end_object();
    json_.end_array().end_object();
  }

  JsonWriter& json_;
};

template <class Show>
void show_declaration(Show& show, const SchemaFiles::Declaration& found) {
  show.provider(found);
  for (const auto& numbers : found.declared.events())
    if (const auto schema = found.declared.find(numbers.id, numbers.version))
      show.event(numbers, *schema, found.declared.names());
  show.end();
}

// Shows all of the provider; where there is none, that is a finding.
template <class Show>
void show_all(Show& show, const SchemaFiles& files, const TraceSchemasShowOptions& options,
              core::Findings& findings) {
  const auto guid = where::parse_any_guid(options.provider);
  bool found_one = false;
  std::vector<std::string> names;
  files.visit(options.schemas.languages, findings, [&](const SchemaFiles::Declaration& found) {
    const auto& name = found.declared.name();
    names.push_back(name);
    if (guid ? found.declared.guid() != *guid
             : !glob_matches(options.provider, name, GlobCase::insensitive))
      return;
    found_one = true;
    show_declaration(show, found);
  });
  if (found_one) return;
  core::NoMatch none;
  const std::vector<std::string_view> views{names.begin(), names.end()};
  none.add("provider", options.provider, views);
  none.report(findings);
}

Exit run_trace_schemas_show(const TraceSchemasShowOptions& options) {
  Report report{options.findings};
  if (!options.schemas.any()) throw CLI::RequiredError{"--schemas or COLDTRACE_SCHEMAS"};
  core::Findings findings;
  const auto files = find_schema_files(options.schemas, options, findings);
  if (files.size() == 0) return tell_nothing_declared(options.schemas, findings, report);
  Output output{options.output};
  if (options.format == "json") {
    JsonWriter json{output, options.int64};
    json.begin_object()
        .field("schema", "coldtrace.trace-schemas-show/1")
        .field("tool", tool_version)
        .key("providers")
        .begin_array();
    JsonShow show{json};
    show_all(show, files, options, findings);
    json.end_array().key("findings");
    write_findings(json, findings);
    json.end_object().end_document();
  } else {
    TextShow show{output};
    show_all(show, files, options, findings);
  }
  output.commit();
  report.read("--schemas", findings);
  return report.exit();
}

}  // namespace

void add_trace_schemas_show(CLI::App& app, Exit& exit) {
  add_command<TraceSchemasShowOptions>(
      app, exit,
      {"show", "Show the events of a provider with their fields, as each file declares them",
       "  coldtrace trace schemas show Microsoft-Windows-Kernel-Process --schemas "
       "windows.ctschemas\n"
       "  coldtrace trace schemas show '*-DNS-Client' --schemas dnsapi.dll --format json\n",
       "  0  it was written\n"
       "  1  no file declares the provider, or a file is damaged or cannot be read\n"
       "  2  no file declares any provider, or the output cannot be written\n"},
      {"text", "json"},
      [](Command& command, TraceSchemasShowOptions& options) {
        command.add_option("PROVIDER", options.provider, "Provider, by GUID, name or glob")
            .required();
        add_schema_options(command, options.schemas);
      },
      run_trace_schemas_show);
}

}  // namespace coldtrace::cli
