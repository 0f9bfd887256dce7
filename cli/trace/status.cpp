#include "cli/trace/status.hpp"

#include <fmt/format.h>

#include "coldtrace/tracefile/names/status_names.hpp"

namespace coldtrace::cli {
namespace {

void write_named(JsonWriter& json, std::optional<u32> value, std::string_view (*name_of)(u32)) {
  if (value)
    write_status(json, *value, name_of(*value));
  else
    json.value(nullptr);
}

}  // namespace

std::string status_text(u32 value, std::string_view name) {
  return name.empty() ? fmt::format("{:#010x}", value) : fmt::format("{} ({:#010x})", name, value);
}

std::string nt_status_text(u32 value) {
  return status_text(value, tracefile::find_nt_status(value));
}

std::string exit_status_text(u32 value) {
  return status_text(value, tracefile::find_exit_status(value));
}

void write_status(JsonWriter& json, u32 value, std::string_view name) {
  json.begin_object().field("name", text_or_null(name)).field("value", value).end_object();
}

void write_nt_status(JsonWriter& json, std::optional<u32> value) {
  write_named(json, value, tracefile::find_nt_status);
}

void write_exit_status(JsonWriter& json, std::optional<u32> value) {
  write_named(json, value, tracefile::find_exit_status);
}

}  // namespace coldtrace::cli
