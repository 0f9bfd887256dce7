#include "coldtrace/syscall-map/servicing/module_pairing.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "coldtrace/core/ascii.hpp"

namespace coldtrace::syscall_map {
namespace {

using Key = std::pair<std::string, pe::Machine>;
using NameOf = std::function<std::string(const ServicedModule&)>;

struct Candidates {
  std::vector<std::size_t> before, after;
};

std::string file_name_of(const ServicedModule& module) {
  return core::to_lower(std::string_view{module.place}.substr(module.place.rfind('/') + 1));
}

std::string own_name_of(const ServicedModule& module) {
  return core::to_lower(module.identity.name);
}

std::string role_of(const ServicedModule& module) {
  return module.role ? std::string{to_string(*module.role)} : std::string{};
}

class Pairing {
 public:
  Pairing(std::span<const ServicedModule> before, std::span<const ServicedModule> after)
      : before_{before},
        after_{after},
        old_(before.size()),
        new_(after.size()),
        old_noted_(before.size()),
        new_noted_(after.size()) {}

  // Pairs what is the only one of its name left on both sides.
  void pair_by(PairedBy why, const NameOf& name_of) {
    for (const auto& [key, found] : candidates(name_of)) {
      if (found.before.size() != 1 || found.after.size() != 1) continue;
      old_[found.before.front()] = new_[found.after.front()] = true;
      result_.pairs.push_back({found.before.front(), found.after.front(), why});
    }
  }

  // What has been told by one name is not told by the next.
  void note_ambiguous(std::string_view what, const NameOf& name_of) {
    for (const auto& [key, found] : candidates(name_of)) {
      if (found.before.empty() || found.after.empty()) continue;
      const auto told = [](const std::vector<std::size_t>& all, const std::vector<bool>& noted) {
        return std::all_of(all.begin(), all.end(), [&](std::size_t i) { return noted[i]; });
      };
      if (told(found.before, old_noted_) && told(found.after, new_noted_)) continue;
      for (const auto i : found.before) old_noted_[i] = true;
      for (const auto i : found.after) new_noted_[i] = true;
      result_.findings.info("servicing-ambiguous", std::nullopt,
                            "{}: {} of the old and {} of the new modules of this {} lie at places "
                            "that the other system lacks; they are reported as removed and added",
                            key.first, found.before.size(), found.after.size(), what);
    }
  }

  ModulePairs finish() {
    for (std::size_t i = 0; i < old_.size(); ++i)
      if (!old_[i]) result_.pairs.push_back({i, std::nullopt, PairedBy::none});
    for (std::size_t i = 0; i < new_.size(); ++i)
      if (!new_[i]) result_.pairs.push_back({std::nullopt, i, PairedBy::none});
    const auto order = [&](const ModulePair& pair) {
      const auto& place = pair.after ? after_[*pair.after].place : before_[*pair.before].place;
      return std::tuple{core::to_lower(place), place, pair.after.has_value()};
    };
    std::stable_sort(result_.pairs.begin(), result_.pairs.end(),
                     [&](const ModulePair& a, const ModulePair& b) { return order(a) < order(b); });
    return std::move(result_);
  }

 private:
  std::map<Key, Candidates> candidates(const NameOf& name_of) const {
    std::map<Key, Candidates> found;
    const auto add = [&](std::span<const ServicedModule> modules, const std::vector<bool>& paired,
                         std::vector<std::size_t> Candidates::*side) {
      for (std::size_t i = 0; i < modules.size(); ++i) {
        if (paired[i]) continue;
        auto name = name_of(modules[i]);
        if (!name.empty())
          (found[{std::move(name), modules[i].identity.machine}].*side).push_back(i);
      }
    };
    add(before_, old_, &Candidates::before);
    add(after_, new_, &Candidates::after);
    return found;
  }

  std::span<const ServicedModule> before_, after_;
  std::vector<bool> old_, new_;              // that are paired
  std::vector<bool> old_noted_, new_noted_;  // as ambiguous
  ModulePairs result_;
};

// Whether the place, or a folder above it, is one of those, which are in lower case.
bool is_below(const std::set<std::string>& places, std::string_view place) {
  auto left = core::to_lower(place);
  while (!left.empty() && !places.contains(left)) {
    const auto slash = left.rfind('/');
    left.resize(slash == left.npos ? 0 : slash);
  }
  return !left.empty();
}

std::set<std::string> lower_places(UnreadPlaces places) {
  std::set<std::string> lower;
  for (const auto& place : places) lower.insert(core::to_lower(place));
  return lower;
}

}  // namespace

void leave_out_unread(ModulePairs& pairs, std::span<const ServicedModule> before,
                      std::span<const ServicedModule> after, UnreadPlaces unread_before,
                      UnreadPlaces unread_after) {
  const auto old_places = lower_places(unread_before);
  const auto new_places = lower_places(unread_after);
  std::erase_if(pairs.pairs, [&](const ModulePair& pair) {
    if (!pair.after) return is_below(new_places, before[*pair.before].place);
    return !pair.before && is_below(old_places, after[*pair.after].place);
  });
}

std::string_view to_string(PairedBy why) {
  switch (why) {
    case PairedBy::none:
      return "none";
    case PairedBy::given:
      return "given";
    case PairedBy::path:
      return "path";
    case PairedBy::file_name:
      return "file_name";
    case PairedBy::own_name:
      return "own_name";
    case PairedBy::role:
      return "role";
  }
  return "";
}

ModulePairs pair_modules(std::span<const ServicedModule> before,
                         std::span<const ServicedModule> after) {
  Pairing pairing{before, after};
  pairing.pair_by(PairedBy::path, [](const ServicedModule& module) { return module.place; });
  pairing.pair_by(PairedBy::path,
                  [](const ServicedModule& module) { return core::to_lower(module.place); });
  pairing.pair_by(PairedBy::file_name, file_name_of);
  pairing.pair_by(PairedBy::own_name, own_name_of);
  pairing.pair_by(PairedBy::role, role_of);
  pairing.note_ambiguous("name", file_name_of);
  pairing.note_ambiguous("own name", own_name_of);
  pairing.note_ambiguous("role", role_of);
  return pairing.finish();
}

ModulePairs pair_given(const ServicedModule& before, const ServicedModule& after) {
  ModulePairs pairs;
  pairs.pairs.push_back({0, 0, PairedBy::given});
  if (own_name_of(before) != own_name_of(after) && (!before.role || before.role != after.role))
    pairs.findings.info("servicing-names", std::nullopt, "the images call themselves {} and {}",
                        before.identity.name, after.identity.name);
  return pairs;
}

}  // namespace coldtrace::syscall_map
