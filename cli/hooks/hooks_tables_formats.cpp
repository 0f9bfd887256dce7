#include "cli/command/version.hpp"
#include "cli/hooks/hooks_tables.hpp"
#include "cli/hooks/service_table_json.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::EntryName;
using syscall_map::LocatedServiceTable;
using syscall_map::NameSource;
using syscall_map::ServicesTab;
using syscall_map::ServicesTabEntry;
using syscall_map::ServiceTableEntry;

std::string hex_or_dash(std::optional<u64> number) {
  return number ? fmt::format("{:#x}", *number) : "-";
}

std::string import_of(const ServiceTableEntry& entry) {
  if (entry.import_name.empty()) return "";
  return fmt::format("{}!{}", entry.import_module, entry.import_name);
}

void print_evidence(Output& output, const std::vector<std::string>& evidence) {
  for (const auto& sentence : evidence) print(output, "  {}\n", printable(sentence));
}

void print_table(Output& output, const NamedTable& named) {
  const auto& table = named.table;
  print(output, "{} at rva {:#x}, file offset {}, {} of form {}, {} confidence, {}\n", table.name,
        value(table.rva), hex_or_dash(table.file_offset),
        counted(table.entries.size(), "entry", "entries"), to_string(table.form),
        to_string(table.confidence), table.verified ? "verified" : "unverified");
  print_evidence(output, table.evidence);
  if (!named.user.empty())
    print(output, "  {} of {} names agree with {}\n", named.names.equal, named.names.shared,
          printable(named.user));
  if (!table.entries.empty()) output.write("number  rva         args  name\n");
  for (std::size_t i = 0; i < table.entries.size(); ++i) {
    const auto& entry = table.entries[i];
    const auto& name = named.names.entries[i];
    print(output, "{:#06x}  {:#010x}  {:>4}  {}{}\n", service_number(table, i), value(entry.target),
          hex_or_dash(entry.argument_bytes), printable(name.name),
          name.source == NameSource::none ? "" : fmt::format("  ({})", to_string(name.source)));
  }
}

void print_tab(Output& output, const ServicesTab& tab) {
  print(output, "KiServicesTab at rva {:#x}, file offset {}, {}, {} confidence, {}\n",
        value(tab.rva), hex_or_dash(tab.file_offset),
        counted(tab.entries.size(), "record", "records"), to_string(tab.confidence),
        tab.verified ? "verified" : "unverified");
  print_evidence(output, tab.evidence);
  if (!tab.entries.empty()) output.write("hash        rva         args  number  name\n");
  for (const auto& record : tab.entries)
    print(output, "{:#010x}  {:#010x}  {:>4}  {:#06x}  {}\n", record.hash, value(record.target),
          record.argument_count, fmt::join(record.numbers, ","), printable(record.name));
}

// The records of the tab that lead to the function of an entry.
std::vector<const ServicesTabEntry*> records_of(const TablesImage& image,
                                                const ServiceTableEntry& entry) {
  std::vector<const ServicesTabEntry*> records;
  if (!image.services_tab) return records;
  for (const auto& record : image.services_tab->entries)
    if (record.target == entry.target) records.push_back(&record);
  return records;
}

void write_entry(JsonWriter& json, const LocatedServiceTable& table, std::size_t index,
                 const EntryName& name) {
  const bool named = name.source != NameSource::none;
  json.begin_object();
  write_table_entry_fields(json, table, index);
  json.field("name", FileText{named ? std::string_view{name.name} : std::string_view{}})
      .field("name_source", named ? std::optional{to_string(name.source)} : std::nullopt)
      .end_object();
}

void write_table(JsonWriter& json, const NamedTable& named) {
  json.begin_object();
  write_service_table_fields(json, named.table);
  json.key("user");
  if (named.user.empty()) {
    json.value(nullptr);
  } else {
    json.begin_object()
        .field("path", FileText{named.user})
        .field("shared", named.names.shared)
        .field("equal", named.names.equal)
        .field("trusted", named.names.trusted)
        .end_object();
  }
  json.key("entries").begin_array();
  for (std::size_t i = 0; i < named.table.entries.size(); ++i)
    write_entry(json, named.table, i, named.names.entries[i]);
  json.end_array().end_object();
}

}  // namespace

void write_tables_text(Output& output, const std::vector<TablesImage>& images) {
  for (const auto& image : images) {
    print(output, "{}: {}\n", printable(image.path), to_text(image.identity));
    if (image.tables.empty()) print(output, "no service table\n");
    for (const auto& named : image.tables) print_table(output, named);
    if (image.services_tab) print_tab(output, *image.services_tab);
    output.write("\n");
  }
}

void write_tables_csv(Output& output, const std::vector<TablesImage>& images) {
  output.write(
      "path,file_version,machine,time_date_stamp,size_of_image,checksum,table,table_rva,form,"
      "number,rva,"
      "argument_bytes,name,name_source,import,name_hashes,argument_counts\n");
  for (const auto& image : images) {
    const auto& identity = image.identity.identity;
    for (const auto& [table, names, user] : image.tables)
      for (std::size_t i = 0; i < table.entries.size(); ++i) {
        const auto& entry = table.entries[i];
        std::vector<u32> hashes, arguments;
        if (table.table == syscall_map::ServiceTable::nt)
          for (const auto* record : records_of(image, entry)) {
            hashes.push_back(record->hash);
            arguments.push_back(record->argument_count);
          }
        const auto& name = names.entries[i];
        print(output, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(image.path),
              csv_field(identity.file_version.value_or("")), pe::to_string(identity.machine),
              identity.time_date_stamp, identity.size_of_image, identity.checksum, table.name,
              value(table.rva), to_string(table.form), service_number(table, i),
              value(entry.target),
              entry.argument_bytes ? fmt::format("{}", *entry.argument_bytes) : "",
              csv_field(name.name), name.source == NameSource::none ? "" : to_string(name.source),
              csv_field(import_of(entry)), fmt::join(hashes, " "), fmt::join(arguments, " "));
      }
  }
}

void write_tables_json(Output& output, Int64 int64, const std::vector<TablesImage>& images) {
  JsonWriter json{output, int64};
  json.begin_object().field("schema", "coldtrace.service-tables/1").field("tool", tool_version);
  json.key("images").begin_array();
  for (const auto& image : images) {
    json.begin_object().field("path", FileText{image.path}).key("identity");
    write_identity(json, image.identity);
    json.key("tables").begin_array();
    for (const auto& named : image.tables) write_table(json, named);
    json.end_array().key("services_tab");
    if (image.services_tab)
      write_services_tab(json, *image.services_tab);
    else
      json.value(nullptr);
    json.key("findings");
    write_findings(json, image.findings);
    json.end_object();
  }
  json.end_array().end_object().end_document();
}

}  // namespace coldtrace::cli
