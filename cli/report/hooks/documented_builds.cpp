#include "cli/report/hooks/documented_builds.hpp"

#include <fmt/format.h>

#include "cli/hooks/table/hook_table_document.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;
using syscall_map::ImageRole;

core::Expected<std::vector<ShownBuild>, std::string> read_map(const Value& json) {
  std::vector<ShownBuild> images;
  u64 unread = 0;
  each_object(json, "images", [&](const Value& image) {
    auto& build = images.emplace_back(ShownBuild{.table = {}, .is_map = true});
    build.table.images.push_back(read_documented_image(image, ImageRole::ntdll));
    each_object(image, "services", [&](const Value& service) {
      if (auto one = read_documented_service(service))
        build.table.services.push_back(std::move(*one));
      else
        ++unread;
    });
  });
  if (images.empty()) return core::fail(std::string{"it has no build"});
  if (unread > 0)
    return core::fail(
        fmt::format("{} of its services {} no number", unread, unread == 1 ? "has" : "have"));
  return images;
}

core::Expected<std::vector<ShownBuild>, std::string> read_table(const Value& json) {
  std::vector<ShownBuild> builds;
  auto tables = COLDTRACE_TRY(read_table_builds(json));
  for (auto& build : tables) builds.push_back({.table = std::move(build), .is_map = false});
  return builds;
}

}  // namespace

std::optional<std::vector<ShownBuild>> read_documented_builds(const std::string& path,
                                                              const std::vector<std::byte>& bytes,
                                                              Report& report) {
  const auto document = parse_table_document(bytes);
  if (!document) {
    report.failed(path,
                  "a page shows JSON of 'coldtrace hooks table' and 'coldtrace syscalls map', and "
                  "NDJSON of 'coldtrace ntfs snapshot': this is none of them, or incomplete");
    return std::nullopt;
  }
  auto builds =
      document->is_map ? read_map(document->json.value()) : read_table(document->json.value());
  if (builds) return std::move(*builds);
  report.failed(path, builds.error());
  return std::nullopt;
}

}  // namespace coldtrace::cli
