#include "cli/report/hooks/documented_builds.hpp"

#include <array>
#include <limits>

#include "cli/output/json_members.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;
using syscall_map::Confidence;
using syscall_map::HookService;
using syscall_map::ImageRole;
using syscall_map::ServiceTable;

constexpr u64 largest_document = u64{64} << 20;

constexpr std::array roles{ImageRole::kernel, ImageRole::ntdll,      ImageRole::win32u,
                           ImageRole::win32k, ImageRole::win32kbase, ImageRole::win32kfull};
constexpr std::array machines{pe::Machine::i386,    pe::Machine::amd64, pe::Machine::arm,
                              pe::Machine::armnt,   pe::Machine::ia64,  pe::Machine::arm64,
                              pe::Machine::arm64ec, pe::Machine::arm64x};
constexpr std::array confidences{Confidence::low, Confidence::medium, Confidence::high};

// The one of them that is written so.
template <class Named, std::size_t count>
std::optional<Named> find_named(const std::array<Named, count>& all, std::string_view text) {
  for (const auto one : all)
    if (to_string(one) == text) return one;
  return std::nullopt;
}

std::optional<u32> u32_member(const Value& object, const char* name) {
  const auto number = number_member(object, name);
  if (!number || *number > std::numeric_limits<u32>::max()) return std::nullopt;
  return static_cast<u32>(*number);
}

bool bool_member(const Value& object, const char* name) {
  const auto* const value = find_member(object, name, &Value::IsBool);
  return value != nullptr && value->GetBool();
}

template <class Take>
void each_object(const Value& object, const char* name, Take take) {
  if (const auto* array = find_member(object, name, &Value::IsArray))
    for (const auto& element : array->GetArray())
      if (element.IsObject()) take(element);
}

void append_texts(const Value& object, const char* name, std::vector<std::string>& texts) {
  if (const auto* array = find_member(object, name, &Value::IsArray))
    for (const auto& element : array->GetArray())
      if (element.IsString()) texts.emplace_back(element.GetString(), element.GetStringLength());
}

syscall_map::HookTableImage read_image(const Value& json, ImageRole role) {
  syscall_map::HookTableImage image{.role = role, .path = {}, .identity = {}, .sha256 = {}};
  const auto* const identity = find_member(json, "identity", &Value::IsObject);
  if (identity == nullptr) return image;
  image.identity.name = text_member(*identity, "name");
  image.identity.machine =
      find_named(machines, text_member(*identity, "machine")).value_or(pe::Machine::unknown);
  if (auto version = text_member(*identity, "file_version"); !version.empty())
    image.identity.file_version = std::move(version);
  image.identity.time_date_stamp = u32_member(*identity, "time_date_stamp").value_or(0);
  image.identity.size_of_image = u32_member(*identity, "size_of_image").value_or(0);
  image.identity.checksum = u32_member(*identity, "checksum").value_or(0);
  if (auto hash = text_member(*identity, "sha256"); !hash.empty()) image.sha256 = std::move(hash);
  return image;
}

// Nothing of one without a number that a table can have.
std::optional<HookService> read_service(const Value& json) {
  const auto number = number_member(json, "number");
  if (!number || *number > std::numeric_limits<u16>::max()) return std::nullopt;
  HookService service;
  service.number = static_cast<u16>(*number);
  service.table = text_member(json, "table") == to_string(ServiceTable::win32k)
                      ? ServiceTable::win32k
                      : ServiceTable::nt;
  if (auto name = text_member(json, "name"); !name.empty())
    service.names.push_back(std::move(name));
  append_texts(json, "aliases", service.names);
  append_texts(json, "names", service.names);
  if (const auto target = u32_member(json, "target")) service.target = pe::Rva{*target};
  service.argument_bytes = u32_member(json, "argument_bytes");
  service.confidence =
      find_named(confidences, text_member(json, "confidence")).value_or(Confidence::low);
  service.verified = bool_member(json, "verified");
  append_texts(json, "evidence", service.evidence);
  return service;
}

// Adds to `unread` what has no number or no role, and cannot be shown.
ShownBuild read_build(const Value& json, bool is_map, u64& unread) {
  ShownBuild build{.table = {}, .is_map = is_map};
  if (is_map)
    build.table.images.push_back(read_image(json, ImageRole::ntdll));
  else
    each_object(json, "images", [&](const Value& image) {
      if (const auto role = find_named(roles, text_member(image, "role")))
        build.table.images.push_back(read_image(image, *role));
      else
        ++unread;
    });
  each_object(json, "services", [&](const Value& service) {
    if (auto one = read_service(service))
      build.table.services.push_back(std::move(*one));
    else
      ++unread;
  });
  if (const auto* search = find_member(json, "context_switch", &Value::IsObject))
    append_texts(*search, "reasons", build.table.context_switch.reasons);
  return build;
}

}  // namespace

std::optional<std::vector<ShownBuild>> read_documented_builds(const std::string& path,
                                                              Report& report) {
  const auto bytes = core::read_whole_file(path, largest_document);
  if (!bytes) {
    report.failed(path, bytes.error());
    return std::nullopt;
  }
  rapidjson::Document json;
  const auto text = core::to_chars(*bytes);
  json.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  const auto schema = json.HasParseError() ? std::string{} : text_member(json, "schema");
  const bool is_map = schema == "coldtrace.syscall-map/1";
  if (!is_map && schema != "coldtrace.hook-table/1") {
    report.failed(path,
                  "of JSON a page shows that of 'coldtrace hooks table' and of 'coldtrace syscalls "
                  "map', and this is neither, or not whole");
    return std::nullopt;
  }
  std::vector<ShownBuild> builds;
  u64 unread = 0;
  each_object(json, is_map ? "images" : "builds",
              [&](const Value& build) { builds.push_back(read_build(build, is_map, unread)); });
  if (builds.empty() || unread > 0) {
    report.failed(path, builds.empty()
                            ? std::string{"it has no build"}
                            : fmt::format("{} of its services have no number, or images no role "
                                          "that there is",
                                          unread));
    return std::nullopt;
  }
  return builds;
}

}  // namespace coldtrace::cli
