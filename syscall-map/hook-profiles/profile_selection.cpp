#include "coldtrace/syscall-map/hook-profiles/profile_selection.hpp"

#include <algorithm>
#include <tuple>

#include "coldtrace/core/glob.hpp"

namespace coldtrace::syscall_map {
namespace {

using Rule = HookProfile::Rule;

// Steps of glob_matches and the like: some seconds.
constexpr u64 most_work = u64{1} << 32;

bool is_module(const ProfileName& pattern, const ListedService& service) {
  const auto name = to_module_name(pattern.text);
  return std::any_of(service.modules.begin(), service.modules.end(), [&](const auto& module) {
    return pattern.glob ? glob_matches(name, module, GlobCase::sensitive) : name == module;
  });
}

bool is_name(const ProfileName& pattern, const ListedService& service) {
  const auto& names = service.spellings;
  if (!pattern.glob) return std::find(names.begin(), names.end(), pattern.text) != names.end();
  // A service without a name is part of all the services.
  if (names.empty()) return glob_matches(pattern.text, "", GlobCase::sensitive);
  return std::any_of(names.begin(), names.end(), [&](const auto& name) {
    return glob_matches(pattern.text, name, GlobCase::sensitive);
  });
}

// What rules cost at most, from which hostile texts are known before they are tried.
class Work {
 public:
  explicit Work(const ServiceCatalogue& catalogue) : catalogue_{catalogue} {
    for (const auto& service : catalogue.services()) all_.add(service);
  }

  void add(const std::vector<Rule>& rules) {
    for (const auto& [rule, file, group] : rules) {
      if (rule.kind == ProfileRule::Kind::group) {
        steps_ += catalogue_.services().size();
      } else if (rule.name.glob) {
        add(rule, all_);
      } else {
        Sizes some;
        for (const auto service : catalogue_.find(rule.name.text))
          some.add(catalogue_.services()[service]);
        add(rule, some);
      }
      if (is_too_much()) return;
    }
  }

  bool is_too_much() const { return steps_ > most_work; }

 private:
  struct Sizes {
    u64 names = 0;
    u64 modules = 0;

    void add(const ListedService& service) {
      ++names;
      for (const auto& name : service.spellings) names += name.size() + 1;
      for (const auto& name : service.modules) modules += name.size() + 1;
    }
  };

  void add(const ProfileRule& rule, const Sizes& sizes) {
    steps_ += (rule.name.text.size() + 1) * sizes.names;
    if (rule.module) steps_ += (rule.module->text.size() + 1) * sizes.modules;
  }

  const ServiceCatalogue& catalogue_;
  Sizes all_;
  u64 steps_ = 0;
};

}  // namespace

bool speaks_of(const ProfileRule& rule, const ListedService& service) {
  return (!rule.module || is_module(*rule.module, service)) && is_name(rule.name, service);
}

// Puts a selection together: the groups first, each after those that it is made of.
class ProfileSelector {
 public:
  ProfileSelector(const HookProfile& profile, const ServiceCatalogue& catalogue) {
    selection_.profile_ = &profile;
    selection_.catalogue_ = &catalogue;
    selection_.groups_.resize(profile.groups.size());
    selected_groups_.resize(profile.groups.size());
    selection_.deciding_.resize(catalogue.services().size());
  }

  ProfileSelection select() {
    const auto& profile = *selection_.profile_;
    for (u32 group = 0; group < profile.groups.size(); ++group) select_group(group);
    selection_.selected_ = select(profile.rules, &selection_.deciding_);
    sort_unmatched();
    return std::move(selection_);
  }

 private:
  // Its depth is bounded by most_profile_groups.
  const std::vector<bool>& select_group(u32 index) {
    auto& services = selection_.groups_[index];
    if (!selected_groups_[index])
      services = select(selection_.profile_->groups[index].rules, nullptr);
    selected_groups_[index] = true;
    return services;
  }

  // A file that is included twice has each of its rules twice.
  void sort_unmatched() {
    const auto place = [](const Rule* rule) {
      return std::tuple{rule->file, rule->text.place.line, rule->text.place.column};
    };
    auto& rules = selection_.unmatched_;
    std::sort(rules.begin(), rules.end(),
              [&](const Rule* a, const Rule* b) { return place(a) < place(b); });
    rules.erase(std::unique(rules.begin(), rules.end(),
                            [&](const Rule* a, const Rule* b) { return place(a) == place(b); }),
                rules.end());
  }

  std::vector<bool> select(const std::vector<Rule>& rules,
                           std::vector<std::optional<u32>>* deciding) {
    std::vector<bool> selected(selection_.catalogue_->services().size());
    for (u32 index = 0; index < rules.size(); ++index) {
      const auto& rule = rules[index];
      bool matched = false;
      for_each(rule, [&](u32 service) {
        matched = true;
        selected[service] = !rule.text.leaves_out;
        if (deciding) (*deciding)[service] = index;
      });
      if (!matched) selection_.unmatched_.push_back(&rule);
    }
    return selected;
  }

  template <class Visit>
  void for_each(const Rule& rule, Visit visit) {
    const auto& services = selection_.catalogue_->services();
    if (rule.text.kind == ProfileRule::Kind::group) {
      const auto& group = select_group(rule.group);
      for (u32 service = 0; service < group.size(); ++service)
        if (group[service]) visit(service);
    } else if (rule.text.name.glob) {
      for (u32 service = 0; service < services.size(); ++service)
        if (speaks_of(rule.text, services[service])) visit(service);
    } else {
      for (const auto service : selection_.catalogue_->find(rule.text.name.text))
        if (speaks_of(rule.text, services[service])) visit(service);
    }
  }

  ProfileSelection selection_;
  std::vector<bool> selected_groups_;  // of selection_.groups_, those that are ready
};

bool ProfileSelection::speaks_of(const Rule& rule, u32 service) const {
  if (rule.text.kind == ProfileRule::Kind::group) return groups_[rule.group][service];
  return syscall_map::speaks_of(rule.text, catalogue_->services()[service]);
}

std::vector<const Rule*> ProfileSelection::find_reason(u32 service) const {
  if (!deciding_[service]) return {};
  std::vector<const Rule*> reason{&profile_->rules[*deciding_[service]]};
  while (reason.back()->text.kind == ProfileRule::Kind::group) {
    const auto& rules = profile_->groups[reason.back()->group].rules;
    const auto last = std::find_if(rules.rbegin(), rules.rend(),
                                   [&](const Rule& rule) { return speaks_of(rule, service); });
    reason.push_back(&*last);
  }
  return reason;
}

std::optional<ProfileSelection> select_services(core::Borrowed<HookProfile> given_profile,
                                                core::Borrowed<ServiceCatalogue> given_catalogue) {
  const auto& profile = given_profile.get();
  const auto& catalogue = given_catalogue.get();
  Work work{catalogue};
  work.add(profile.rules);
  for (const auto& group : profile.groups) work.add(group.rules);
  if (work.is_too_much()) return std::nullopt;
  return ProfileSelector{profile, catalogue}.select();
}

}  // namespace coldtrace::syscall_map
