#include "coldtrace/syscall-map/hook-profiles/profile_expansion.hpp"

#include <algorithm>
#include <set>

namespace coldtrace::syscall_map {
namespace {

using Rule = HookProfile::Rule;

// Adds the services that rules name, those of a group where it is first used.
class NamedServices {
 public:
  explicit NamedServices(const HookProfile& profile)
      : profile_{profile}, added_groups_(profile.groups.size()) {
    find_modules(profile.rules);
    for (const auto& group : profile.groups) find_modules(group.rules);
  }

  ServiceCatalogue list() {
    add(profile_.rules);
    for (u32 group = 0; group < profile_.groups.size(); ++group) add_group(group);
    return std::move(catalogue_);
  }

 private:
  static bool names_service(const ProfileRule& rule) {
    return rule.kind == ProfileRule::Kind::services && !rule.name.glob &&
           !(rule.module && rule.module->glob);
  }

  void find_modules(const std::vector<Rule>& rules) {
    for (const auto& [rule, file, group] : rules)
      if (names_service(rule) && rule.module) with_module_.insert(to_nt_name(rule.name.text));
  }

  // Its depth is bounded by most_profile_groups.
  void add_group(u32 group) {
    if (added_groups_[group]) return;
    added_groups_[group] = true;
    add(profile_.groups[group].rules);
  }

  void add(const std::vector<Rule>& rules) {
    for (const auto& [rule, file, group] : rules) {
      if (rule.kind == ProfileRule::Kind::group)
        add_group(group);
      else if (!names_service(rule))
        continue;
      else if (rule.module)
        catalogue_.add_named(rule.module->text, rule.name.text);
      else if (!with_module_.contains(to_nt_name(rule.name.text)))
        catalogue_.add_named({}, rule.name.text);
    }
  }

  const HookProfile& profile_;
  ServiceCatalogue catalogue_;
  std::set<std::string> with_module_;  // names that stand with a module somewhere
  std::vector<bool> added_groups_;
};

}  // namespace

ServiceCatalogue list_named_services(const HookProfile& profile) {
  return NamedServices{profile}.list();
}

ProfileFile expand(const ProfileSelection& selection, const ServiceCatalogue& catalogue) {
  ProfileFile file;
  std::set<std::string> written;
  for (u32 index = 0; index < catalogue.services().size(); ++index) {
    const auto& service = catalogue.services()[index];
    if (!selection.is_selected(index) || service.names.empty() ||
        !is_profile_name(service.names.front()))
      continue;
    ProfileRule rule;
    rule.name.text = service.names.front();
    const auto& alike = catalogue.find(rule.name.text);
    const bool all = std::all_of(alike.begin(), alike.end(),
                                 [&](u32 other) { return selection.is_selected(other); });
    if (!all && !service.module.empty()) rule.module = ProfileName{service.module, false};
    if (written.insert(to_text(rule)).second) file.rules.push_back(std::move(rule));
  }
  return file;
}

}  // namespace coldtrace::syscall_map
