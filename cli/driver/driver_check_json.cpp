#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/driver/driver_check.hpp"
#include "cli/output/exact_text.hpp"

namespace coldtrace::cli {
namespace {

using registry::Configuration;

// Null where it is empty: of what is never there and empty.
template <std::size_t Size>
JsonWriter& text(JsonWriter& json, const char (&name)[Size], const std::string& content) {
  return json.field(name, ExactText{text_or_null(content)});
}

template <std::size_t Size>
JsonWriter& exact(JsonWriter& json, const char (&name)[Size],
                  std::optional<std::string_view> content) {
  return json.field(name, ExactText{content});
}

void write_log(JsonWriter& json, const registry::LogUse& log) {
  json.begin_object()
      .field("name", log.name)
      .field("format", name_of(log.format))
      .field("sequence", log.sequence)
      .field("entries", log.entries)
      .field("pages", log.pages);
  text(json, "left", log.left).end_object();
}

void write_hive(JsonWriter& json, const HiveInput& input) {
  const auto& before = input.recovery.before;
  json.begin_object().field("path", FileText{input.path}).field("kind", name_of(input.kind));
  text(json, "file_name", before.name)
      .field("dirty", before.is_dirty())
      .field("checksum_valid", before.has_checksum())
      .field("primary_sequence", before.primary_sequence)
      .field("secondary_sequence", before.secondary_sequence)
      .field("complete", input.recovery.is_complete())
      .field("entries", input.recovery.entries)
      .field("pages", input.recovery.pages);
  json.key("logs").begin_array();
  for (const auto& log : input.recovery.logs) write_log(json, log);
  json.end_array().key("findings");
  write_findings(json, input.findings);
  json.end_object();
}

void write_control_set(JsonWriter& json, const Configuration& configuration) {
  const auto& sets = configuration.sets;
  json.key("control_set");
  if (!configuration.has_system) {
    json.value(nullptr);
    return;
  }
  json.begin_object();
  text(json, "name", sets.name)
      .field("current", sets.current)
      .field("default", sets.default_)
      .field("failed", sets.failed)
      .field("last_known_good", sets.last_known_good);
  json.key("present")
      .value(std::vector<u64>{sets.present.begin(), sets.present.end()})
      .end_object();
}

void write_services(JsonWriter& json, const DriverCheckAnswer& answer) {
  json.key("services").begin_array();
  for (const auto& service : answer.configuration.services) {
    if (!service.is_service()) continue;
    exact(json.begin_object(), "name", service.name)
        .field("driver", service.is_driver())
        .field("type", service.type)
        .field("start", service.start)
        .field("start_name", registry::start_name(service.start))
        .field("error_control", service.error_control);
    exact(json, "group", service.group);
    exact(json, "image_path", service.image_path);
    const auto file = service.file(answer.configuration.windows);
    text(json, "file", file && file->is_known() ? file->text() : std::string{})
        .field("file_exists", answer.has_file(service))
        .end_object();
  }
  json.end_array();
}

void write_filters(JsonWriter& json, const DriverCheckAnswer& answer) {
  json.key("filters").begin_array();
  for (const auto& list : answer.configuration.filters) {
    exact(json.begin_object(), "key", list.key).field("value", list.value);
    exact(json, "class", list.class_name);
    exact(json, "class_guid", list.class_id).field("of_device", list.of_device);
    json.key("services").begin_array();
    for (const auto& name : list.services) {
      const auto* service = answer.configuration.find_service(name);
      exact(json.begin_object(), "name", name)
          .field("start", service ? service->start : std::nullopt)
          .end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_dlls(JsonWriter& json, const Configuration& configuration) {
  json.key("appinit").begin_array();
  for (const auto& view : configuration.app_init) {
    exact(json.begin_object(), "key", view.key)
        .field("wow64", view.wow64)
        .field("load", view.load)
        .field("require_signed", view.require_signed);
    write_exact_texts(json, "dlls", view.dlls);
    json.end_object();
  }
  json.end_array().key("known_dlls").begin_object();
  const auto& known = configuration.known_dlls;
  text(json, "key", known.key);
  exact(json, "directory", known.directory);
  exact(json, "directory_32", known.directory_32).key("entries").begin_array();
  for (const auto& entry : known.entries) {
    exact(json.begin_object(), "name", entry.name);
    exact(json, "dll", entry.dll).end_object();
  }
  json.end_array();
  write_exact_texts(json, "excluded", known.excluded);
  json.end_object();
}

std::optional<std::string> mask_or_null(std::optional<u64> mask) {
  return mask ? std::optional{fmt::format("{:#x}", *mask)} : std::nullopt;
}

void write_autologgers(JsonWriter& json, const Configuration& configuration) {
  json.key("autologgers").begin_array();
  for (const auto& session : configuration.autologgers) {
    exact(json.begin_object(), "key", session.key);
    exact(json, "name", session.name);
    exact(json, "guid", session.guid).field("start", session.start);
    exact(json, "file", session.file)
        .field("log_file_mode", mask_or_null(session.mode))
        .field("kernel_flags", session.kernel_flags);
    json.key("providers").begin_array();
    for (const auto& provider : session.providers) {
      exact(json.begin_object(), "guid", provider.guid);
      text(json, "name", provider.name)
          .field("enabled", provider.enabled)
          .field("level", provider.level)
          .field("keywords", mask_or_null(provider.keywords));
      exact(json, "resource_file", provider.resource_file).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_problems(JsonWriter& json, const std::vector<registry::Problem>& problems) {
  json.key("problems").begin_array();
  for (const auto& problem : problems) {
    json.begin_object()
        .field("code", problem.code.view())
        .field("severity", to_string(problem.severity));
    exact(json, "key", problem.key);
    text(json, "value", problem.value);
    exact(json, "data", problem.data)
        .field("text", shown_text(problem.text))
        .field("advice", shown_text(problem.advice))
        .end_object();
  }
  json.end_array();
}

}  // namespace

void write_driver_check_json(Output& output, Int64 int64, const DriverCheckAnswer& answer) {
  JsonWriter json{output, int64};
  json.begin_object().field("schema", "coldtrace.driver-check/1").field("tool", tool_version);
  json.key("hives").begin_array();
  for (const auto& input : answer.hives) write_hive(json, *input);
  json.end_array();
  json.key("files");
  if (answer.files_path.empty())
    json.value(nullptr);
  else
    text(json.begin_object().field("path", FileText{answer.files_path}), "windows",
         answer.files ? answer.files->windows_folder() : std::string{})
        .end_object();
  write_control_set(json, answer.configuration);
  write_services(json, answer);
  write_filters(json, answer);
  write_dlls(json, answer.configuration);
  write_autologgers(json, answer.configuration);
  write_problems(json, answer.problems);
  json.key("findings");
  write_findings(json, answer.findings);
  json.end_object().end_document();
}

}  // namespace coldtrace::cli
