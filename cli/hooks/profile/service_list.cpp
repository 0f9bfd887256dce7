#include "cli/hooks/profile/service_list.hpp"

#include "cli/hooks/table/hook_table_file.hpp"
#include "cli/images/mapped_image.hpp"
#include "cli/images/service_document.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/profile_language.hpp"
#include "coldtrace/syscall-map/service_list.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::ServiceListKind;

class Reader {
 public:
  explicit Reader(Report& report) : report_{report} {}

  bool read(const std::string& path) {
    const auto kind = syscall_map::recognize_service_list(path);
    if (!kind) return failed(path, kind.error());
    switch (*kind) {
      case ServiceListKind::hook_table:
        return read_binary_table(path);
      case ServiceListKind::image:
        return read_image(path);
      case ServiceListKind::json:
        return read_json(path);
      case ServiceListKind::names:
        break;
    }
    return read_names(path);
  }

  syscall_map::ServiceCatalogue take() { return lists_.take(); }

 private:
  template <class Why>
  bool failed(const std::string& path, const Why& why) {
    report_.failed(path, why);
    return false;
  }

  bool read_binary_table(const std::string& path) {
    const auto builds = read_hook_table_file(path, report_);
    if (!builds) return false;
    for (const auto& build : *builds) lists_.add(build);
    report_.read(path, {});
    return true;
  }

  bool read_image(const std::string& path) {
    PeOptions options;
    options.no_hash = true;
    const auto image = map_image(path, options, report_);
    if (image) lists_.add(image->map, image->identity.identity.name);
    return image.has_value();
  }

  bool read_json(const std::string& path) {
    const auto document = read_service_document(path, report_);
    if (!document) return false;
    for (const auto& part : document->parts)
      for (const auto& service : part.services) lists_.add(service);
    report_.read(path, {});
    return true;
  }

  bool read_names(const std::string& path) {
    const auto bytes = core::read_whole_file(path, syscall_map::largest_profile_file);
    if (!bytes) return failed(path, bytes.error());
    if (const auto error = lists_.add_names(core::to_chars(*bytes)))
      return failed(fmt::format("{}:{}:{}", path, error->line, error->column), error->message);
    report_.read(path, {});
    return true;
  }

  Report& report_;
  syscall_map::ServiceLists lists_;
};

}  // namespace

std::optional<syscall_map::ServiceCatalogue> read_service_lists(
    const std::vector<std::string>& paths, Report& report) {
  Reader reader{report};
  bool any = false;
  for (const auto& path : paths) any |= reader.read(path);
  if (!any) return std::nullopt;
  return reader.take();
}

}  // namespace coldtrace::cli
