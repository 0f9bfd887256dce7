#include "cli/trace/lines/system_call_names.hpp"

#include "cli/hooks/table/service_document.hpp"
#include "cli/images/mapped_image.hpp"
#include "cli/trace/lines/traced_image.hpp"
#include "coldtrace/syscall-map/stubs/call_names.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::CallNames;
using tracefile::TracedImage;

bool read_document(const std::string& path, const std::vector<std::byte>& bytes, CallNames& names,
                   Report& report) {
  const auto document = read_service_document(path, bytes, report);
  if (!document) return false;
  if (!document->is_map) {
    report.failed(path, "not the output of 'coldtrace syscalls map --format json'");
    return false;
  }
  for (const auto& part : document->parts) {
    names.begin(part.image);
    for (const auto& service : part.services)
      if (!service.names.empty()) names.add(service.number, service.names.front());
  }
  return true;
}

bool read_image(const std::string& path, CallNames& names, Report& report) {
  PeOptions options;
  options.no_hash = true;
  const auto image = map_image(path, options, report);
  if (!image) return false;
  names.begin(image->identity.identity);
  for (const auto& service : image->map.services) names.add(service.number, service.name);
  return true;
}

}  // namespace

std::string_view SystemCallNames::find(const tracefile::Value& value) const {
  const auto& table = value.out == tracefile::OutType::name_hash ? by_hash : by_number;
  const auto found = table.find(static_cast<u32>(value.number));
  return found == table.end() ? std::string_view{} : found->second;
}

std::optional<SystemCallNames> read_system_call_names(const std::string& path,
                                                      const TracedImage& ntdll,
                                                      core::Findings& findings, Report& report) {
  CallNames names{ntdll.known() ? std::optional{to_loaded_file(ntdll)} : std::nullopt};
  const auto file = read_service_list_file(path, report);
  if (!file) return std::nullopt;
  const bool is_read = file->kind == syscall_map::ServiceListKind::json
                           ? read_document(path, file->bytes, names, report)
                           : read_image(path, names, report);
  if (!is_read) return std::nullopt;
  names.report_unmatched(findings);
  return SystemCallNames{names.by_number(), names.by_hash()};
}

}  // namespace coldtrace::cli
