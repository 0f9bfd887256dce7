#pragma once

#include <random>
#include <string>

#include "coldtrace/syscall-map/hook-profiles/profile_language.hpp"

namespace coldtrace {

// Files of any profile that the language can say. Names are few and alike, so that rules meet.
class RandomProfile {
 public:
  explicit RandomProfile(u32 seed) : random_{seed} {}

  // `groups` are the names of all groups that rules may use; those from `first` on are defined
  // here, each of the ones before it. `includes` are paths that rules may name.
  syscall_map::ProfileFile make(const std::vector<std::string>& groups, std::size_t first,
                                const std::vector<std::string>& includes) {
    syscall_map::ProfileFile file;
    for (auto index = first; index < groups.size(); ++index)
      file.groups.push_back({groups[index], rules(groups, index), {}});
    file.rules = rules(groups, groups.size());
    for (const auto& path : includes) {
      syscall_map::ProfileRule rule;
      rule.kind = syscall_map::ProfileRule::Kind::include;
      rule.name.text = path;
      file.rules.insert(file.rules.begin() + pick(static_cast<u32>(file.rules.size()) + 1), rule);
    }
    return file;
  }

  u32 pick(u32 choices) { return static_cast<u32>(random_() % choices); }

  std::string name() {
    std::string text{one_of({"Nt", "Zw", "Nt", "", "Get_", "?", "include", "group", "-", "@"})};
    text += one_of({"Close", "Open", "Create", "Ope", "x"});
    return text += one_of({"", "File", "Key", "Process", "@4", " {#}!"});
  }

  std::string module() {
    return one_of({"nt", "win32k", "VMM", "NTDLL.DLL", "win32kfull", "v x d"});
  }

 private:
  std::string one_of(std::initializer_list<const char*> choices) {
    return *(choices.begin() + pick(static_cast<u32>(choices.size())));
  }

  // A glob that matches the text, more or less.
  std::string glob(std::string text) {
    std::string pattern;
    for (const char c : text) {
      if (!syscall_map::is_profile_name_character(c)) continue;
      if (pattern.empty() && (c == '-' || c == '@')) continue;
      const auto choice = pick(5);
      if (choice == 0)
        pattern += '?';
      else if (choice == 1)
        pattern += '*';
      else
        pattern += c;
    }
    pattern += '*';
    return pattern;
  }

  syscall_map::ProfileRule rule(const std::vector<std::string>& groups, std::size_t known) {
    syscall_map::ProfileRule rule;
    rule.leaves_out = pick(3) == 0;
    if (known > 0 && pick(4) == 0) {
      rule.kind = syscall_map::ProfileRule::Kind::group;
      rule.name.text = groups[pick(static_cast<u32>(known))];
      return rule;
    }
    rule.name = pick(3) == 0 ? syscall_map::ProfileName{glob(name()), true}
                             : syscall_map::ProfileName{name(), false};
    if (pick(3) == 0)
      rule.module = pick(3) == 0 ? syscall_map::ProfileName{glob(module()), true}
                                 : syscall_map::ProfileName{module(), false};
    return rule;
  }

  std::vector<syscall_map::ProfileRule> rules(const std::vector<std::string>& groups,
                                              std::size_t known) {
    std::vector<syscall_map::ProfileRule> made;
    for (auto count = pick(12); count > 0; --count) made.push_back(rule(groups, known));
    return made;
  }

  std::mt19937 random_;
};

}  // namespace coldtrace
