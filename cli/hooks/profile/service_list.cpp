#include "cli/hooks/profile/service_list.hpp"

#include <algorithm>

#include "cli/hooks/table/hook_table_file.hpp"
#include "cli/images/mapped_image.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook_table_decoder.hpp"
#include "coldtrace/syscall-map/profile_parser.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;
using syscall_map::ProfileRule;
using syscall_map::ServiceTable;

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
    if (!file) {
      report_.failed(path, file.error());
      return false;
    }
    constexpr u64 enough_to_recognize = 4096;
    std::vector<std::byte> head(std::min<u64>((*file)->size(), enough_to_recognize));
    if (const auto done = (*file)->read_at(0, head); !done) {
      report_.failed(path, done.error());
      return false;
    }
    const auto text = core::to_chars(head);
    const auto first = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
    if (syscall_map::is_hook_table(head)) return read_binary_table(path);
    if (text.starts_with("MZ") || text.find('\0') != text.npos) return read_image(path);
    if (first != text.npos && text[first] == '{') return read_json(path);
    return read_names(path);
  }

  // A name without a module is a service of its own only where no module has it.
  syscall_map::ServiceCatalogue take() {
    for (const auto& name : without_module_)
      if (catalogue_.find(name).empty()) catalogue_.add_named({}, name);
    return std::move(catalogue_);
  }

 private:
  bool read_binary_table(const std::string& path) {
    const auto builds = read_hook_table_file(path, report_);
    if (!builds) return false;
    for (const auto& build : *builds)
      for (const auto& service : build.services) catalogue_.add(service);
    report_.read(path, {});
    return true;
  }

  bool read_image(const std::string& path) {
    PeOptions options;
    options.no_hash = true;
    const auto image = map_image(path, options, report_);
    if (!image) return false;
    for (const auto& service : image->map.services) {
      std::vector<std::string> names;
      if (!service.name.empty()) names.push_back(service.name);
      names.insert(names.end(), service.aliases.begin(), service.aliases.end());
      catalogue_.add(service.table, image->identity.identity.name, names, service.number);
    }
    return true;
  }

  bool read_json(const std::string& path) {
    const auto bytes = core::read_whole_file(path, largest_json);
    if (!bytes) {
      report_.failed(path, bytes.error());
      return false;
    }
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
      report_.failed(path,
                     "neither the JSON of 'coldtrace syscalls map' nor that of 'coldtrace hooks "
                     "table'");
      return false;
    }
    report_.read(path, {});
    return true;
  }

  void add_services(const Value& object, const std::string& image) {
    for (const auto* service : objects_of(object, "services")) {
      const auto* number = find_member(*service, "number", &Value::IsUint);
      if (number == nullptr || number->GetUint() > 0xffff) continue;
      std::vector<std::string> names;
      if (auto name = text_member(*service, "name"); !name.empty())
        names.push_back(std::move(name));
      append_texts(*service, "aliases", names);
      append_texts(*service, "names", names);
      const auto role = text_member(*service, "image");
      const bool in_part = role == "win32kbase" || role == "win32kfull";
      const auto known = static_cast<u16>(number->GetUint());
      catalogue_.add(syscall_map::table_of(known), in_part ? role : image, names, known);
    }
  }

  bool read_names(const std::string& path) {
    const auto bytes = core::read_whole_file(path, syscall_map::largest_profile_file);
    if (!bytes) {
      report_.failed(path, bytes.error());
      return false;
    }
    const auto refuse = [&](u32 line, u32 column, std::string_view message) {
      report_.failed(fmt::format("{}:{}:{}", path, line, column), message);
      return false;
    };
    const auto file = syscall_map::parse_profile(core::to_chars(*bytes));
    if (!file) return refuse(file.error().line, file.error().column, file.error().message);
    const auto plain = [](const ProfileRule& rule) {
      return rule.kind == ProfileRule::Kind::services && !rule.leaves_out && !rule.name.glob &&
             !(rule.module && rule.module->glob);
    };
    if (!file->groups.empty()) {
      const auto place = file->groups.front().place;
      return refuse(place.line, place.column, "a list of services has no groups");
    }
    for (const auto& rule : file->rules)
      if (!plain(rule))
        return refuse(rule.place.line, rule.place.column,
                      "a list of services has names alone, no globs, '-', '@' and includes");
    for (const auto& rule : file->rules) {
      if (rule.module)
        catalogue_.add_named(rule.module->text, rule.name.text);
      else
        without_module_.push_back(rule.name.text);
    }
    report_.read(path, {});
    return true;
  }

  Report& report_;
  syscall_map::ServiceCatalogue catalogue_;
  std::vector<std::string> without_module_;
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
