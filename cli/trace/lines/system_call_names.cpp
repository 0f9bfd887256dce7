#include "cli/trace/lines/system_call_names.hpp"

#include "cli/hooks/table/service_document.hpp"
#include "cli/images/mapped_image.hpp"
#include "cli/trace/lines/traced_image.hpp"
#include "coldtrace/syscall-map/name_hash.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::TracedImage;

class Names {
 public:
  Names(const TracedImage& ntdll, core::Findings& findings) : ntdll_{ntdll}, findings_{findings} {}

  // Whether the numbers of the image are those of the trace.
  bool begin(const pe::Identity& identity) {
    const bool same =
        ntdll_.known() && pe::compare(identity, to_loaded_file(ntdll_)) == pe::Likeness::same;
    matched_ |= same;
    name_ = identity.name;
    return same;
  }

  void add(u32 number, const std::string& name, bool same) {
    if (name.empty()) return;
    if (same) names_.by_number.emplace(number, name);
    names_.by_hash.emplace(syscall_map::hash_name(syscall_map::hashed_name(name)), name);
  }

  SystemCallNames take() {
    if (!ntdll_.known())
      findings_.warning("syscall-map-unmatched", std::nullopt,
                        "the trace does not say whose system call numbers it has: none is named");
    else if (!matched_)
      findings_.warning("syscall-map-unmatched", std::nullopt,
                        "{} is not the image whose system call numbers the trace has: none is "
                        "named",
                        name_.empty() ? "the map" : name_);
    return std::move(names_);
  }

 private:
  const TracedImage& ntdll_;
  core::Findings& findings_;
  SystemCallNames names_;
  std::string name_;
  bool matched_ = false;
};

bool read_document(const std::string& path, const std::vector<std::byte>& bytes, Names& names,
                   Report& report) {
  const auto document = read_service_document(path, bytes, report);
  if (!document) return false;
  if (!document->is_map) {
    report.failed(path, "not the output of 'coldtrace syscalls map --format json'");
    return false;
  }
  for (const auto& part : document->parts) {
    const bool same = names.begin(part.image);
    for (const auto& service : part.services)
      if (!service.names.empty()) names.add(service.number, service.names.front(), same);
  }
  return true;
}

bool read_image(const std::string& path, Names& names, Report& report) {
  PeOptions options;
  options.no_hash = true;
  const auto image = map_image(path, options, report);
  if (!image) return false;
  const bool same = names.begin(image->identity.identity);
  for (const auto& service : image->map.services) names.add(service.number, service.name, same);
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
  Names names{ntdll, findings};
  const auto file = read_service_list_file(path, report);
  if (!file) return std::nullopt;
  const bool is_read = file->kind == syscall_map::ServiceListKind::json
                           ? read_document(path, file->bytes, names, report)
                           : read_image(path, names, report);
  if (!is_read) return std::nullopt;
  return names.take();
}

}  // namespace coldtrace::cli
