#include <algorithm>
#include <map>

#include "cli/output/text.hpp"
#include "cli/syscalls/syscalls_map.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::Service;

void write_service(JsonWriter& json, const Service& service) {
  json.object("name", MaybeText{service.name}, "aliases", FileTexts{service.aliases}, "number",
              service.number, "table", to_string(service.table), "rva", value(service.rva),
              "file_offset", service.file_offset, "argument_bytes", service.argument_bytes, "shape",
              MaybeText{service.shape}, "raw_immediate", service.raw_immediate, "source",
              to_string(service.source), "hooked", service.hooked, "hook", MaybeText{service.hook},
              "verified", service.verified, "evidence", service.evidence);
}

std::string optional_number(const std::optional<u32>& number) {
  return number ? fmt::format("{}", *number) : std::string{};
}

// The image that a column of the familiar table is of, and no other.
std::string column_title(const MappedImage& image) {
  const auto& identity = image.identity.identity;
  return fmt::format("{} {} {} {:08x} {:x} {:x}", identity.name, identity.file_version.value_or(""),
                     pe::to_string(identity.machine), identity.time_date_stamp,
                     identity.size_of_image, identity.checksum);
}

}  // namespace

void write_map_json(JsonWriter& json, const syscall_map::ServiceMap& map) {
  json.key("services").begin_array();
  for (const auto& service : map.services) write_service(json, service);
  json.end_array().key("rejected").begin_array();
  for (const auto& left : map.rejected)
    json.object("name", FileText{left.name}, "reason", left.reason);
  json.end_array();
}

void write_map_csv(Output& output, const std::string& path, const pe::Identity& identity,
                   const syscall_map::ServiceMap& map) {
  for (const auto& service : map.services)
    print(output, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(path),
          csv_field(identity.file_version.value_or("")), pe::to_string(identity.machine),
          identity.time_date_stamp, identity.size_of_image, identity.checksum, service.number,
          csv_field(service.name), csv_field(fmt::format("{}", fmt::join(service.aliases, " "))),
          to_string(service.table), value(service.rva),
          service.file_offset ? fmt::format("{}", *service.file_offset) : "",
          optional_number(service.argument_bytes), service.shape,
          optional_number(service.raw_immediate), to_string(service.source), service.hooked,
          service.verified);
}

void write_map_j00ru_csv(Output& output, const std::vector<MappedImage>& images) {
  std::map<std::string, std::vector<std::optional<u16>>> rows;
  for (std::size_t column = 0; column < images.size(); ++column)
    for (const auto& service : images[column].map.services) {
      if (service.name.empty()) continue;
      auto& row = rows[syscall_map::to_nt_name(service.name)];
      row.resize(images.size());
      row[column] = service.number;
    }
  output.write("System call");
  for (const auto& image : images) print(output, ",{}", csv_field(column_title(image)));
  output.write("\n");
  for (const auto& [name, numbers] : rows) {
    output.write(csv_field(name));
    for (const auto& number : numbers)
      output.write(number ? fmt::format(",{:#06x}", *number) : ",");
    output.write("\n");
  }
}

}  // namespace coldtrace::cli
