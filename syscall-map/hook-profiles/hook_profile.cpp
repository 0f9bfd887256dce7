#include "coldtrace/syscall-map/hook-profiles/hook_profile.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "coldtrace/core/result.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_parser.hpp"

namespace coldtrace::syscall_map {
namespace {

// "a -> b -> a"; of a longer one than files can make, the first and the last.
std::string chain_text(const std::vector<std::string>& names) {
  constexpr std::size_t shown = deepest_profile_include / 2 + 1;
  if (names.size() <= 2 * shown) return fmt::format("{}", fmt::join(names, " -> "));
  return fmt::format("{} -> ... -> {}", fmt::join(names.begin(), names.begin() + shown, " -> "),
                     fmt::join(names.end() - shown, names.end(), " -> "));
}

class Linker {
 public:
  explicit Linker(const IncludeReader& read_include) : read_include_{read_include} {}

  HookProfile link(ProfileSource source) {
    append_rules(parse(std::move(source)));
    for (auto& group : profile_.groups) resolve(group.rules);
    resolve(profile_.rules);
    refuse_cycles();
    return std::move(profile_);
  }

 private:
  struct Parsed {
    std::string id;
    u32 file;  // of profile_.files
    ProfileFile content;
  };

  [[noreturn]] void refuse(u32 file, core::TextPlace place, std::string message) const {
    throw ProfileError{profile_.files[file], {place.line, place.column, std::move(message)}};
  }

  // A file is parsed once, however often it is included: its groups are defined once.
  const Parsed& parse(ProfileSource source) {
    if (const auto known = parsed_.find(source.id); known != parsed_.end()) return known->second;
    auto content = parse_profile(source.text);
    if (!content) throw ProfileError{std::move(source.path), std::move(content.error())};
    const auto file = static_cast<u32>(profile_.files.size());
    profile_.files.push_back(std::move(source.path));
    for (auto& group : content->groups) define(std::move(group), file);
    return parsed_.emplace(source.id, Parsed{source.id, file, std::move(*content)}).first->second;
  }

  void define(ProfileGroup group, u32 file) {
    if (const auto other = by_name_.find(group.name); other != by_name_.end()) {
      const auto& first = profile_.groups[other->second];
      refuse(file, group.place,
             fmt::format("there is already a group '{}', in {}", group.name,
                         place_of(profile_, first.file, first.place)));
    }
    if (profile_.groups.size() == most_profile_groups)
      refuse(file, group.place, fmt::format("more than {} groups", most_profile_groups));
    by_name_.emplace(group.name, static_cast<u32>(profile_.groups.size()));
    HookProfile::Group defined{group.name, {}, file, group.place, false};
    for (auto& rule : group.rules) append(defined.rules, std::move(rule), file);
    profile_.groups.push_back(std::move(defined));
  }

  void append(std::vector<HookProfile::Rule>& rules, ProfileRule rule, u32 file) {
    if (++rules_ > most_profile_rules)
      refuse(file, rule.place, fmt::format("more than {} rules", most_profile_rules));
    rules.push_back({std::move(rule), file, 0});
  }

  void append_rules(const Parsed& parsed) {
    chain_.push_back(&parsed);
    for (const auto& rule : parsed.content.rules) {
      if (rule.kind == ProfileRule::Kind::include)
        include(rule, parsed);
      else
        append(profile_.rules, rule, parsed.file);
    }
    chain_.pop_back();
  }

  void include(const ProfileRule& rule, const Parsed& from) {
    if (++includes_ > most_profile_includes)
      refuse(from.file, rule.place, fmt::format("more than {} includes", most_profile_includes));
    if (chain_.size() > deepest_profile_include)
      refuse(from.file, rule.place,
             fmt::format("includes are nested deeper than {}", deepest_profile_include));
    auto source = read_include_(profile_.files[from.file], rule.name.text);
    if (!source) refuse(from.file, rule.place, std::move(source.error()));
    const auto open = std::find_if(chain_.begin(), chain_.end(),
                                   [&](const Parsed* parsed) { return parsed->id == source->id; });
    if (open != chain_.end()) {
      std::vector<std::string> names;
      for (auto at = open; at != chain_.end(); ++at) names.push_back(profile_.files[(*at)->file]);
      names.push_back(source->path);
      refuse(from.file, rule.place, "the file includes itself: " + chain_text(names));
    }
    append_rules(parse(std::move(*source)));
  }

  void resolve(std::vector<HookProfile::Rule>& rules) {
    for (auto& rule : rules) {
      if (rule.text.kind != ProfileRule::Kind::group) continue;
      const auto found = by_name_.find(rule.text.name.text);
      if (found == by_name_.end())
        refuse(rule.file, rule.text.place, fmt::format("no group '{}'", rule.text.name.text));
      rule.group = found->second;
      profile_.groups[found->second].used = true;
    }
  }

  void refuse_cycles() {
    states_.assign(profile_.groups.size(), State::unseen);
    depths_.assign(profile_.groups.size(), 1);
    for (u32 group = 0; group < profile_.groups.size(); ++group) visit(group);
  }

  // Its depth is bounded by most_profile_groups.
  void visit(u32 group) {
    if (states_[group] != State::unseen) return;
    states_[group] = State::open;
    open_groups_.push_back(group);
    for (const auto& rule : profile_.groups[group].rules) {
      if (rule.text.kind != ProfileRule::Kind::group) continue;
      if (states_[rule.group] == State::open) {
        std::vector<std::string> names;
        for (auto at = std::find(open_groups_.begin(), open_groups_.end(), rule.group);
             at != open_groups_.end(); ++at)
          names.push_back("@" + profile_.groups[*at].name);
        names.push_back("@" + profile_.groups[rule.group].name);
        refuse(rule.file, rule.text.place, "the group is part of itself: " + chain_text(names));
      }
      visit(rule.group);
      depths_[group] = std::max(depths_[group], depths_[rule.group] + 1);
      if (depths_[group] > deepest_profile_group)
        refuse(rule.file, rule.text.place,
               fmt::format("groups are nested deeper than {}", deepest_profile_group));
    }
    open_groups_.pop_back();
    states_[group] = State::done;
  }

  enum class State : u8 { unseen, open, done };

  const IncludeReader& read_include_;
  HookProfile profile_;
  std::map<std::string, Parsed> parsed_;  // by id
  std::map<std::string, u32> by_name_;
  std::vector<const Parsed*> chain_;  // the files that are being read, outermost first
  std::vector<State> states_;
  std::vector<u32> open_groups_;
  std::vector<std::size_t> depths_;  // of groups inside each other, the group itself included
  std::size_t rules_ = 0;
  std::size_t includes_ = 0;
};

}  // namespace

std::string to_string(const ProfileError& error) {
  return fmt::format("{}:{}", error.path, core::to_string(error.error));
}

std::string place_of(const HookProfile& profile, u32 file, core::TextPlace place) {
  return fmt::format("{}:{}", profile.files[file], place.line);
}

core::Expected<HookProfile, ProfileError> read_profile(ProfileSource source,
                                                       const IncludeReader& read_include) {
  try {
    return Linker{read_include}.link(std::move(source));
  } catch (ProfileError& error) {
    return core::fail(std::move(error));
  }
}

}  // namespace coldtrace::syscall_map
