#include "cli/hooks/service_table_json.hpp"

namespace coldtrace::cli {
namespace {

std::optional<u32> number_of(std::optional<pe::Rva> rva) {
  return rva ? std::optional{value(*rva)} : std::nullopt;
}

}  // namespace

void write_evidence(JsonWriter& json, const std::vector<std::string>& evidence) {
  json.key("evidence").begin_array();
  for (const auto& sentence : evidence) json.value(sentence);
  json.end_array();
}

void write_service_table_fields(JsonWriter& json, const syscall_map::LocatedServiceTable& table) {
  json.field("name", table.name)
      .field("table", to_string(table.table))
      .field("rva", value(table.rva))
      .field("file_offset", table.file_offset)
      .field("address", table.address)
      .field("form", to_string(table.form))
      .field("limit", number_of(table.limit))
      .field("arguments", number_of(table.arguments))
      .field("descriptor", number_of(table.descriptor))
      .field("verified", table.verified)
      .field("confidence", to_string(table.confidence));
  write_evidence(json, table.evidence);
}

void write_table_entry_fields(JsonWriter& json, const syscall_map::LocatedServiceTable& table,
                              std::size_t index) {
  const auto& entry = table.entries[index];
  const bool imported = !entry.import_name.empty();
  json.field("number", service_number(table, index))
      .field("rva", value(entry.target))
      .field("argument_bytes", entry.argument_bytes)
      .field("import_module",
             FileText{imported ? std::string_view{entry.import_module} : std::string_view{}})
      .field("import_name",
             FileText{imported ? std::string_view{entry.import_name} : std::string_view{}});
}

void write_services_tab(JsonWriter& json, const syscall_map::ServicesTab& tab) {
  json.begin_object()
      .field("rva", value(tab.rva))
      .field("file_offset", tab.file_offset)
      .field("address", tab.address)
      .field("verified", tab.verified)
      .field("confidence", to_string(tab.confidence));
  write_evidence(json, tab.evidence);
  json.key("records").begin_array();
  for (const auto& record : tab.entries) {
    json.begin_object()
        .field("name_hash", record.hash)
        .field("argument_count", record.argument_count)
        .field("rva", value(record.target))
        .field("name", MaybeText{record.name})
        .key("numbers")
        .begin_array();
    for (const auto number : record.numbers) json.value(number);
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

u64 service_number(const syscall_map::LocatedServiceTable& table, std::size_t index) {
  return table.table == syscall_map::ServiceTable::win32k ? index | syscall_map::win32k_bit : index;
}

}  // namespace coldtrace::cli
