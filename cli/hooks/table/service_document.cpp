#include "cli/hooks/table/service_document.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/command/standard_input.hpp"
#include "cli/command/text_input.hpp"
#include "cli/hooks/table/hook_table_document.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;
using syscall_map::DocumentedService;
using syscall_map::ServiceListKind;

constexpr std::string_view wanted = "a list of services";

// Of a PDB that is not written as one, nothing but the name of the image counts.
pe::Identity identity_of(const Value& image) {
  auto identity = read_documented_image(image, syscall_map::ImageRole::ntdll).identity;
  const auto* const json = find_member(image, "identity", &Value::IsObject);
  const auto* const pdb = json ? find_member(*json, "pdb", &Value::IsObject) : nullptr;
  if (pdb == nullptr) return identity;
  const auto guid = text_member(*pdb, "guid");
  const auto known = core::parse_guid(guid);
  if (!known && !guid.empty()) {
    pe::Identity named{};
    named.name = std::move(identity.name);
    return named;
  }
  identity.pdb = pe::PdbReference{file_text_member(*pdb, "name"), known, std::nullopt,
                                  static_cast<u32>(number_member(*pdb, "age").value_or(0))};
  return identity;
}

// Adds to `unread` what has no number.
std::vector<DocumentedService> services_of(const Value& part, const std::string& image,
                                           u64& unread) {
  std::vector<DocumentedService> services;
  each_object(part, "services", [&](const Value& json) {
    if (auto service = read_documented_service(json))
      services.push_back(
          {service->number, std::move(service->names), image, text_member(json, "image")});
    else
      ++unread;
  });
  return services;
}

}  // namespace

std::optional<ServiceListFile> read_service_list_file(const std::string& path, Report& report) {
  const auto failed = [&](const auto& why) {
    report.failed(path, why);
    return std::nullopt;
  };
  const bool is_standard = path == "-";  // read once, whatever it is
  bool is_packed = is_standard;
  if (!is_standard) {
    const auto file = core::FileImage::open(path);
    if (!file) return failed(file.error());
    const auto kind = core::recognize_file(**file);
    if (!kind) return failed(kind.error());
    is_packed = tracefile::is_unpackable(*kind);
  }
  if (!is_packed) {
    const auto kind = syscall_map::recognize_service_list(path);
    if (!kind) return failed(kind.error());
    if (*kind == ServiceListKind::image) return ServiceListFile{*kind, {}};
  }
  auto bytes =
      read_unpacked(readable_path(path),
                    std::max(largest_hook_table_document, syscall_map::largest_hook_table), wanted);
  if (!bytes) return failed(bytes.error());
  const auto kind = syscall_map::recognize_service_list(*bytes);
  if (kind == ServiceListKind::image)
    return failed(std::string{
        is_standard
            ? "standard input is not a list of services, map or hook table"
            : "it is compressed, and its content is not a list of services: unpack it first"});
  return ServiceListFile{kind, std::move(*bytes)};
}

std::optional<ServiceDocument> read_service_document(const std::string& path,
                                                     const std::vector<std::byte>& bytes,
                                                     Report& report) {
  const auto table = parse_table_document(bytes);
  if (!table) {
    report.failed(path, table.error());
    return std::nullopt;
  }
  ServiceDocument document{table->is_map, {}};
  u64 unread = 0;
  each_object(table->json.value(), table->is_map ? "images" : "builds", [&](const Value& part) {
    auto image = table->is_map ? identity_of(part) : pe::Identity{};
    auto services = services_of(part, image.name, unread);
    document.parts.push_back({std::move(image), std::move(services)});
  });
  if (unread > 0) {
    report.failed(
        path, fmt::format("{} of its services {} no number", unread, unread == 1 ? "has" : "have"));
    return std::nullopt;
  }
  return document;
}

}  // namespace coldtrace::cli
