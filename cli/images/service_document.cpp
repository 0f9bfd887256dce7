#include "cli/images/service_document.hpp"

#include "cli/command/standard_input.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;
using syscall_map::DocumentedService;
using tracefile::TracedImage;

constexpr u64 largest_document = u64{64} << 20;

// The objects of an array; none where there is no array.
std::vector<const Value*> objects_of(const Value& object, const char* name) {
  std::vector<const Value*> objects;
  if (const auto* array = find_member(object, name, &Value::IsArray))
    for (const auto& element : array->GetArray())
      if (element.IsObject()) objects.push_back(&element);
  return objects;
}

void append_texts(const Value& object, const char* name, std::vector<std::string>& texts) {
  if (const auto* array = find_member(object, name, &Value::IsArray))
    for (const auto& element : array->GetArray())
      if (element.IsString()) texts.emplace_back(element.GetString(), element.GetStringLength());
}

u32 number_of(const Value& object, const char* name) {
  const auto* number = find_member(object, name, &Value::IsUint);
  return number ? number->GetUint() : 0;
}

TracedImage identity_of(const Value& json) {
  TracedImage identity;
  identity.name = text_member(json, "name");
  identity.checksum = number_of(json, "checksum");
  identity.time_date_stamp = number_of(json, "time_date_stamp");
  identity.size_of_image = number_of(json, "size_of_image");
  if (const auto* pdb = find_member(json, "pdb", &Value::IsObject)) {
    const auto guid = text_member(*pdb, "guid");
    const auto known = core::parse_guid(guid);
    if (!known && !guid.empty()) return {.name = std::move(identity.name)};
    identity.pdb_guid = known.value_or(core::Guid{});
    identity.pdb_age = number_of(*pdb, "age");
  }
  return identity;
}

std::vector<DocumentedService> services_of(const Value& part, const std::string& image) {
  std::vector<DocumentedService> services;
  for (const auto* service : objects_of(part, "services")) {
    const auto* number = find_member(*service, "number", &Value::IsUint);
    if (number == nullptr) continue;
    DocumentedService one{number->GetUint(), {}, image, text_member(*service, "image")};
    if (auto name = text_member(*service, "name"); !name.empty())
      one.names.push_back(std::move(name));
    append_texts(*service, "aliases", one.names);
    append_texts(*service, "names", one.names);
    services.push_back(std::move(one));
  }
  return services;
}

std::optional<ServiceDocument> parse(std::string_view text) {
  rapidjson::Document json;
  json.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  const auto schema = json.HasParseError() ? std::string{} : text_member(json, "schema");
  ServiceDocument document{schema == "coldtrace.syscall-map/1", {}};
  if (document.is_map) {
    for (const auto* image : objects_of(json, "images")) {
      const auto* identity = find_member(*image, "identity", &Value::IsObject);
      auto known = identity ? identity_of(*identity) : TracedImage{};
      auto services = services_of(*image, known.name);
      document.parts.push_back({std::move(known), std::move(services)});
    }
  } else if (schema == "coldtrace.hook-table/1") {
    for (const auto* build : objects_of(json, "builds"))
      document.parts.push_back({{}, services_of(*build, {})});
  } else {
    return std::nullopt;
  }
  return document;
}

}  // namespace

std::optional<ServiceDocument> read_service_document(const std::string& path, Report& report) {
  const auto bytes = core::read_whole_file(readable_path(path), largest_document);
  if (!bytes) {
    report.failed(path, bytes.error());
    return std::nullopt;
  }
  auto document = parse(core::to_chars(*bytes));
  if (!document)
    report.failed(path,
                  "neither the JSON of 'coldtrace syscalls map' nor that of 'coldtrace hooks "
                  "table'");
  return document;
}

}  // namespace coldtrace::cli
