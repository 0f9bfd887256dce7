#include "cli/report/hooks/documented_builds.hpp"

#include "cli/hooks/table/hook_table_document.hpp"
#include "cli/output/json_members.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;
using syscall_map::ImageRole;

// Adds to `unread` what has no number or no role, and cannot be shown.
ShownBuild read_build(const Value& json, bool is_map, u64& unread) {
  ShownBuild build{.table = {}, .is_map = is_map};
  if (is_map)
    build.table.images.push_back(read_documented_image(json, ImageRole::ntdll));
  else
    each_object(json, "images", [&](const Value& image) {
      if (auto one = read_documented_image(image))
        build.table.images.push_back(std::move(*one));
      else
        ++unread;
    });
  each_object(json, "services", [&](const Value& service) {
    if (auto one = read_documented_service(service))
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
                                                              const std::vector<std::byte>& bytes,
                                                              Report& report) {
  const auto document = parse_table_document(bytes);
  if (!document) {
    report.failed(path,
                  "of JSON a page shows that of 'coldtrace hooks table' and of 'coldtrace syscalls "
                  "map', and the NDJSON of 'coldtrace ntfs snapshot': this is none of them, or not "
                  "whole");
    return std::nullopt;
  }
  const bool is_map = document->is_map;
  std::vector<ShownBuild> builds;
  u64 unread = 0;
  each_object(document->json, is_map ? "images" : "builds",
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
