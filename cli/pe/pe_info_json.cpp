#include <optional>

#include "cli/command/common_options.hpp"
#include "cli/pe/pe_details.hpp"
#include "cli/pe/pe_info.hpp"
#include "cli/pe/pe_view.hpp"
#include "coldtrace/core/file_time.hpp"
#include "coldtrace/pe/header_names.hpp"

namespace coldtrace::cli {
namespace {

void write_headers(JsonWriter& json, const PeInput& input, const PeInfo& info) {
  const auto& file = input.image.file_header();
  const auto& header = input.image.optional_header();
  const auto version = [&](std::string_view name, unsigned major, unsigned minor) {
    json.field(name, fmt::format("{}.{}", major, minor));
  };
  json.key("headers").begin_object();
  json.field("format", header.pe32_plus ? "PE32+" : "PE32")
      .field("machine_value", static_cast<u16>(file.machine));
  json.key("time_date_stamp_utc");
  if (info.reproducible)
    json.value(nullptr);
  else
    json.value(to_string(core::file_time_from_unix(file.time_date_stamp)));
  json.field("reproducible", info.reproducible).field("characteristics", file.characteristics);
  json.field("characteristic_names", pe::file_characteristic_names(file.characteristics));
  version("linker_version", header.major_linker_version, header.minor_linker_version);
  json.field("entry_point_rva", value(header.entry_point))
      .field("image_base", header.image_base)
      .field("section_alignment", header.section_alignment)
      .field("file_alignment", header.file_alignment);
  version("operating_system_version", header.major_operating_system_version,
          header.minor_operating_system_version);
  version("image_version", header.major_image_version, header.minor_image_version);
  version("subsystem_version", header.major_subsystem_version, header.minor_subsystem_version);
  json.field("size_of_headers", header.size_of_headers)
      .field("computed_checksum", info.computed_checksum)
      .field("subsystem", header.subsystem);
  json.field("subsystem_name", MaybeText{pe::subsystem_name(header.subsystem)});
  json.field("dll_characteristics", header.dll_characteristics);
  json.field("dll_characteristic_names", pe::dll_characteristic_names(header.dll_characteristics));
  json.field("force_integrity", (header.dll_characteristics & pe::dll_force_integrity) != 0)
      .end_object();
}

void write_directories(JsonWriter& json, const pe::Image& image) {
  json.key("directories").begin_array();
  for (std::size_t i = 0; i < pe::directory_count; ++i) {
    const auto index = static_cast<pe::Directory>(i);
    const auto& directory = image.directory(index);
    if (value(directory.address) == 0 && directory.size == 0) continue;
    json.begin_object().field("index", i).field("name", pe::to_string(index));
    // The certificate table is not loaded: its place is an offset.
    const bool loaded = index != pe::Directory::certificates;
    json.key("rva");
    loaded ? json.value(value(directory.address)) : json.value(nullptr);
    json.key("file_offset");
    loaded ? json.value(image.addresses().to_offset(directory.address))
           : json.value(value(directory.address));
    json.field("size", directory.size).end_object();
  }
  json.end_array();
}

void write_debug(JsonWriter& json, const std::vector<pe::DebugEntry>& entries) {
  json.key("debug").begin_array();
  for (const auto& entry : entries) {
    json.begin_object().field("type", entry.type);
    json.field("type_name", MaybeText{pe::debug_type_name(entry.type)});
    json.field("time_date_stamp", entry.time_date_stamp)
        .field("file_offset", entry.stored > 0 ? std::optional{entry.offset} : std::nullopt)
        .field("size", entry.stored)
        .end_object();
  }
  json.end_array();
}

void write_version(JsonWriter& json, const std::optional<pe::VersionInfo>& version) {
  json.key("version");
  if (!version) {
    json.value(nullptr);
    return;
  }
  json.begin_object();
  const auto& fixed = version->fixed;
  json.key("file_version");
  fixed ? json.value(pe::to_string(fixed->file)) : json.value(nullptr);
  json.key("product_version");
  fixed ? json.value(pe::to_string(fixed->product)) : json.value(nullptr);
  json.key("flags");
  fixed ? json.value(fixed->flags) : json.value(nullptr);
  json.key("type");
  fixed ? json.value(fixed->type) : json.value(nullptr);
  json.key("strings").begin_array();
  for (const auto& string : version->strings) {
    json.begin_object();
    json.field("language", ExactText{string.language});
    json.field("key", ExactText{string.key});
    json.field("value", ExactText{string.value});
    json.end_object();
  }
  json.end_array().end_object();
}

void write_load_config(JsonWriter& json, const std::optional<pe::LoadConfig>& config) {
  json.key("load_config");
  if (!config) {
    json.value(nullptr);
    return;
  }
  json.begin_object()
      .field("size", config->size)
      .field("time_date_stamp", config->time_date_stamp)
      .field("security_cookie", config->security_cookie)
      .field("se_handler_table", config->se_handler_table)
      .field("se_handler_count", config->se_handler_count)
      .field("guard_function_table", config->guard_function_table)
      .field("guard_function_count", config->guard_function_count)
      .field("guard_flags", config->guard_flags);
  json.field("guard_flag_names", pe::guard_flag_names(config->guard_flags.value_or(0)))
      .field("chpe_metadata", config->chpe_metadata)
      .end_object();
}

void write_tls(JsonWriter& json, const std::optional<pe::TlsDirectory>& tls) {
  json.key("tls");
  if (!tls) {
    json.value(nullptr);
    return;
  }
  json.begin_object()
      .field("raw_data_start", tls->raw_data_start)
      .field("raw_data_end", tls->raw_data_end)
      .field("index_address", tls->index_address)
      .field("callbacks_address", tls->callbacks_address)
      .field("zero_fill_size", tls->zero_fill_size)
      .field("characteristics", tls->characteristics);
  json.key("callbacks").begin_array();
  for (const auto callback : tls->callbacks) json.value(callback);
  json.end_array().end_object();
}

// A number, or text; units that are not valid UTF-16 stand beside it.
template <std::size_t Size>
void write_id(JsonWriter& json, const char (&name)[Size], const pe::ResourceId& id) {
  if (id.named)
    json.field(name, ExactText{to_string(id)});
  else
    json.field(name, id.number);
}

void write_resources(JsonWriter& json, const std::vector<pe::Resource>& resources) {
  json.key("resources").begin_array();
  for (const auto& resource : resources) {
    json.begin_object();
    write_id(json, "type", resource.type);
    json.field("type_name",
               MaybeText{resource.type.named ? "" : pe::resource_type_name(resource.type.number)});
    write_id(json, "name", resource.name);
    json.field("language", resource.language)
        .field("code_page", resource.code_page)
        .field("rva", value(resource.address))
        .field("file_offset", resource.offset)
        .field("size", resource.size)
        .end_object();
  }
  json.end_array();
}

}  // namespace

void write_info_json(JsonWriter& json, const PeInput& input, const PeInfo& info) {
  write_headers(json, input, info);
  write_directories(json, input.image);
  json.key("counts")
      .begin_object()
      .field("sections", input.image.sections().size())
      .field("exports", info.exports)
      .field("imports", info.imports)
      .field("delay_imports", info.delay_imports)
      .field("relocations", info.relocations)
      .field("functions", info.functions)
      .field("resources", info.resources.size())
      .end_object();
  write_debug(json, info.debug);
  write_version(json, info.version);
  json.field("hybrid", to_string(info.hybrid));
  write_load_config(json, info.load_config);
  write_tls(json, info.tls);
  write_resources(json, info.resources);
  json.field("symbol_server_path", info.symbol_path);
  json.key("details");
  if (!info.details) {
    json.value(nullptr);
    return;
  }
  json.begin_object();
  write_pe_details(json, input, info.certificates, *info.details);
  json.end_object();
}

}  // namespace coldtrace::cli
