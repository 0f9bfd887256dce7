#include "cli/hooks/profile/service_list.hpp"

#include "cli/hooks/table/hook_table_file.hpp"
#include "cli/hooks/table/service_document.hpp"
#include "cli/images/mapped_image.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_language.hpp"
#include "coldtrace/syscall-map/hook-profiles/service_list.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::ServiceListKind;

class Reader {
 public:
  explicit Reader(Report& report) : report_{report} {}

  bool read(const std::string& path) {
    const auto file = read_service_list_file(path, report_);
    if (!file) return false;
    switch (file->kind) {
      case ServiceListKind::hook_table:
        return read_binary_table(path, file->bytes);
      case ServiceListKind::image:
        return read_image(path);
      case ServiceListKind::json:
        return read_json(path, file->bytes);
      case ServiceListKind::names:
        break;
    }
    return read_names(path, file->bytes);
  }

  syscall_map::ServiceCatalogue take() { return lists_.take(); }

 private:
  template <class Why>
  bool failed(const std::string& path, const Why& why) {
    report_.failed(path, why);
    return false;
  }

  bool read_binary_table(const std::string& path, const std::vector<std::byte>& bytes) {
    const auto builds = decode_hook_table_file(path, bytes, report_);
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

  bool read_json(const std::string& path, const std::vector<std::byte>& bytes) {
    const auto document = read_service_document(path, bytes, report_);
    if (!document) return false;
    for (const auto& part : document->parts)
      for (const auto& service : part.services) lists_.add(service);
    report_.read(path, {});
    return true;
  }

  bool read_names(const std::string& path, const std::vector<std::byte>& bytes) {
    constexpr auto most = syscall_map::largest_profile_file;
    if (bytes.size() > most)
      return failed(path,
                    core::ParseError{core::Fault::limit, 0, "file", "size", most, bytes.size()});
    if (const auto error = lists_.add_names(core::to_chars(bytes)))
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
