#include "coldtrace/syscall-map/hook-profiles/service_list.hpp"

#include <algorithm>
#include <utility>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_parser.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_decoder.hpp"

namespace coldtrace::syscall_map {
namespace {

bool is_plain(const ProfileRule& rule) {
  return rule.kind == ProfileRule::Kind::services && !rule.leaves_out && !rule.name.glob &&
         !(rule.module && rule.module->glob);
}

}  // namespace

ServiceListKind recognize_service_list(core::ByteView head) {
  if (is_hook_table(head)) return ServiceListKind::hook_table;
  const auto text = core::to_chars(head);
  if (text.starts_with("MZ") || text.find('\0') != text.npos) return ServiceListKind::image;
  const auto first = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  return first != text.npos && text[first] == '{' ? ServiceListKind::json : ServiceListKind::names;
}

core::Result<ServiceListKind> recognize_service_list(const std::string& path) {
  constexpr u64 enough = 4096;
  const auto file = core::FileImage::open(path);
  if (!file) return core::fail(file.error());
  std::vector<std::byte> head(std::min((*file)->size(), enough));
  if (const auto done = (*file)->read_at(0, head); !done) return core::fail(done.error());
  return recognize_service_list(head);
}

void ServiceLists::add(const ServiceMap& map, std::string_view image) {
  for (const auto& service : map.services) {
    std::vector<std::string> names;
    if (!service.name.empty()) names.push_back(service.name);
    names.insert(names.end(), service.aliases.begin(), service.aliases.end());
    catalogue_.add(service.table, image, names, service.number);
  }
}

void ServiceLists::add(const HookTable& table) {
  for (const auto& service : table.services) catalogue_.add(service);
}

void ServiceLists::add(const DocumentedService& service) {
  if (service.number > 0xffff) return;
  const auto number = static_cast<u16>(service.number);
  const bool in_part = service.role == "win32kbase" || service.role == "win32kfull";
  catalogue_.add(table_of(number), in_part ? service.role : service.image, service.names, number);
}

std::optional<core::TextError> ServiceLists::add_names(std::string_view text) {
  const auto file = parse_profile(text);
  if (!file) return file.error();
  if (!file->groups.empty()) {
    const auto place = file->groups.front().place;
    return core::TextError{place.line, place.column, "a list of services has no groups"};
  }
  for (const auto& rule : file->rules)
    if (!is_plain(rule))
      return core::TextError{rule.place.line, rule.place.column,
                             "a list of services has only names, no globs, '-', '@' and includes"};
  for (const auto& rule : file->rules) {
    if (rule.module)
      catalogue_.add_named(rule.module->text, rule.name.text);
    else
      without_module_.push_back(rule.name.text);
  }
  return std::nullopt;
}

ServiceCatalogue ServiceLists::take() {
  for (const auto& name : without_module_)
    if (catalogue_.find(name).empty()) catalogue_.add_named({}, name);
  without_module_.clear();
  return std::exchange(catalogue_, {});
}

}  // namespace coldtrace::syscall_map
