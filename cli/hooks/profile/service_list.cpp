#include "cli/hooks/profile/service_list.hpp"

#include <algorithm>

#include "cli/hooks/table/hook_table_file.hpp"
#include "cli/images/mapped_image.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/profile_language.hpp"
#include "coldtrace/syscall-map/service_list.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;
using syscall_map::ServiceListKind;

constexpr u64 largest_json = u64{64} << 20;

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

class Reader {
 public:
  explicit Reader(Report& report) : report_{report} {}

  bool read(const std::string& path) {
    const auto file = core::FileImage::open(path);
    if (!file) return failed(path, file.error());
    constexpr u64 enough_to_recognize = 4096;
    std::vector<std::byte> head(std::min<u64>((*file)->size(), enough_to_recognize));
    if (const auto done = (*file)->read_at(0, head); !done) return failed(path, done.error());
    switch (syscall_map::recognize_service_list(head)) {
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
    const auto bytes = core::read_whole_file(path, largest_json);
    if (!bytes) return failed(path, bytes.error());
    const auto text = core::to_chars(*bytes);
    rapidjson::Document document;
    document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
    const auto schema = document.HasParseError() ? std::string{} : text_member(document, "schema");
    if (schema == "coldtrace.syscall-map/1") {
      for (const auto* image : objects_of(document, "images")) {
        const auto* identity = find_member(*image, "identity", &Value::IsObject);
        add_services(*image, identity ? text_member(*identity, "name") : std::string{});
      }
    } else if (schema == "coldtrace.hook-table/1") {
      for (const auto* build : objects_of(document, "builds")) add_services(*build, {});
    } else {
      return failed(path,
                    "neither the JSON of 'coldtrace syscalls map' nor that of 'coldtrace hooks "
                    "table'");
    }
    report_.read(path, {});
    return true;
  }

  void add_services(const Value& object, const std::string& image) {
    for (const auto* service : objects_of(object, "services")) {
      const auto* number = find_member(*service, "number", &Value::IsUint);
      if (number == nullptr) continue;
      syscall_map::DocumentedService one{
          number->GetUint(), {}, image, text_member(*service, "image")};
      if (auto name = text_member(*service, "name"); !name.empty())
        one.names.push_back(std::move(name));
      append_texts(*service, "aliases", one.names);
      append_texts(*service, "names", one.names);
      lists_.add(one);
    }
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
