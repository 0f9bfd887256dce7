#include "coldtrace/syscall-map/member-derivation/member_derivation.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "coldtrace/core/symbol_name.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pdb/type_file.hpp"
#include "coldtrace/syscall-map/signatures/signature_locator.hpp"
#include "syscall-map/code/kernel_code.hpp"
#include "syscall-map/member-derivation/function_pairs.hpp"
#include "syscall-map/member-derivation/structure_uses.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr std::size_t enough_functions = 2;
constexpr std::size_t medium_functions = 3;
constexpr std::size_t most_proofs = 4;  // of one offset

// Functions of both builds that names tell.
using NamedPairs = std::vector<std::pair<NamedPlace, pe::Rva>>;

// Functions that signatures find at one place.
std::vector<NamedPlace> signed_places(const KernelView& kernel,
                                      std::span<const Signature> signatures) {
  std::set<std::string_view> functions;
  for (const auto& signature : signatures)
    if (signature.machine == kernel.image().machine()) functions.insert(signature.function);
  std::vector<NamedPlace> places;
  for (const auto function : functions) {
    const auto found = locate(kernel, function, signatures);
    if (found.locations.size() == 1)
      places.push_back({std::string{function}, found.locations.front().rva});
  }
  return places;
}

// Places of the known build by their names, those of C without decoration.
std::vector<NamedPlace> known_places(const KnownBuild& known,
                                     std::span<const Signature> signatures) {
  std::vector<NamedPlace> places;
  std::set<std::pair<std::string, pe::Rva>> seen;
  const auto add = [&](std::string_view name, pe::Rva rva) {
    if (seen.emplace(name, rva).second) places.push_back({std::string{name}, rva});
  };
  for (const auto& [name, rva] : known.kernel->export_places()) add(name, rva);
  for (const auto& symbol : known.symbols) add(core::undecorated(symbol.name), symbol.rva);
  for (const auto& [name, rva] : signed_places(*known.kernel, signatures)) add(name, rva);
  return places;
}

NamedPairs pair_names(const std::vector<NamedPlace>& known, const KernelView& target,
                      const std::vector<HookService>& services,
                      const std::vector<NamedPlace>& by_signature) {
  std::map<std::string, std::set<pe::Rva>, std::less<>> there;
  for (const auto& [name, rva] : target.export_places()) there[std::string{name}].insert(rva);
  for (const auto& service : services) {
    if (service.image != ImageRole::kernel || !service.target) continue;
    for (const auto& name : service.names)
      if (name.starts_with("Nt")) there[name].insert(*service.target);
  }
  for (const auto& [name, rva] : by_signature) there[name].insert(rva);
  // What a linker folded into one function is several, and not the same in both builds.
  std::map<pe::Rva, std::set<pe::Rva>> forth, back;
  std::map<std::string_view, std::set<pe::Rva>> names;
  for (const auto& place : known) names[place.name].insert(place.rva);
  NamedPairs pairs;
  for (const auto& place : known) {
    const auto found = there.find(place.name);
    if (found == there.end() || found->second.size() != 1 || names[place.name].size() != 1)
      continue;
    const auto rva = *found->second.begin();
    if (!target.image().is_executable(rva)) continue;
    forth[place.rva].insert(rva);
    back[rva].insert(place.rva);
    pairs.emplace_back(place, rva);
  }
  std::erase_if(pairs, [&](const auto& pair) {
    return forth[pair.first.rva].size() > 1 || back[pair.second].size() > 1;
  });
  return pairs;
}

// A place of one member in both builds.
struct Site {
  const FunctionPair* pair;
  const Operation* known;
  const Operation* target;
  i64 second;  // of a pair of accesses: how far behind the displacement this one is
};
using Place = std::pair<u32, i64>;               // structure, offset
using Sites = std::map<i64, std::vector<Site>>;  // by the offset in the other build
using SitesOfPlaces = std::map<Place, Sites>;

class Carrier {
 public:
  Carrier(const KnownBuild& known, const pe::PdbTypes& types, const KernelView& target,
          const std::vector<HookService>& services, std::span<const Signature> signatures)
      : known_{known}, ours_{*known.kernel}, theirs_{target}, layout_{types} {
    const auto places = known_places(known, signatures);
    const auto by_signature = signed_places(target, signatures);
    for (const auto& place : by_signature) signed_.insert(place.rva);
    pairs_ = pair_functions(ours_, theirs_, pair_names(places, target, services, by_signature));
    collect(find_structure_uses(pairs_, ours_, layout_, places));
  }

  void find(const MemberRequest& request, std::vector<InferredMember>& found) const {
    for (const auto& alternative : request.alternatives) {
      const auto expression = split_member(alternative);
      const auto place = layout_.place_of(expression.type, expression.path);
      if (!place) continue;
      const auto sites = sites_.find({place->structure, i64{place->offset}});
      if (sites == sites_.end()) return;
      const bool contradicted = sites->second.size() > 1;
      for (const auto& [offset, all] : sites->second) {
        const auto functions = count_functions(all);
        if (functions < enough_functions && !contradicted) continue;
        add(alternative, offset, all, functions, found);
      }
      return;
    }
  }

 private:
  void collect(const std::vector<StructureUse>& uses) {
    std::vector<std::map<std::size_t, std::size_t>> partners(pairs_.size());
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      for (const auto& [ours, theirs] : pairs_[i].operations) partners[i].emplace(ours, theirs);
    for (const auto& use : uses) {
      const auto partner = partners[use.pair].find(use.operation);
      if (partner == partners[use.pair].end()) continue;
      const auto& pair = pairs_[use.pair];
      const auto& known = ours_.at(pair.known).operations[use.operation];
      const auto& target = theirs_.at(pair.target).operations[partner->second];
      if (!target.uses_memory || target.displacement < 0) continue;
      add_site(use.structure, {&pair, &known, &target, 0});
      if (known.second != 0) add_site(use.structure, {&pair, &known, &target, known.second});
    }
  }

  void add_site(u32 structure, const Site& site) {
    sites_[{structure, site.known->displacement + site.second}]
          [site.target->displacement + site.second]
              .push_back(site);
  }

  static std::size_t count_functions(const std::vector<Site>& sites) {
    std::set<pe::Rva> functions;
    for (const auto& site : sites) functions.insert(site.pair->target);
    return functions.size();
  }

  void add(const std::string& expression, i64 offset, const std::vector<Site>& sites,
           std::size_t functions, std::vector<InferredMember>& found) const {
    const auto confidence = functions >= medium_functions ? Confidence::medium : Confidence::low;
    std::set<pe::Rva> told;  // one place of each function proves as much as all
    for (const auto& site : sites) {
      if (told.size() == most_proofs || !told.insert(site.pair->target).second) continue;
      found.push_back(
          {expression, static_cast<u64>(offset), confidence, sentence_of(site, functions)});
    }
  }

  std::string sentence_of(const Site& site, std::size_t functions) const {
    return fmt::format(
        "inferred in {}: {}{} at {:#x} has {} with {:#x}, which in {} at {:#x} is {} "
        "with {:#x}",
        core::counted(functions, "function", "functions"), site.pair->name,
        signed_.contains(site.pair->target) ? " (found by a signature)" : "",
        value(site.target->rva), theirs_.reader().text(*site.target),
        site.target->displacement + site.second, known_.name, value(site.known->rva),
        ours_.reader().text(*site.known), site.known->displacement + site.second);
  }

  const KnownBuild& known_;
  FunctionStore ours_, theirs_;
  StructureLayout layout_;
  std::vector<FunctionPair> pairs_;
  std::set<pe::Rva> signed_;  // of the other build
  SitesOfPlaces sites_;
};

}  // namespace

std::vector<InferredMember> derive_members(std::span<const MemberRequest> requests,
                                           const KnownBuild& known, const KernelView& target,
                                           const std::vector<HookService>& target_services,
                                           std::span<const Signature> signatures,
                                           core::Findings& findings) {
  const core::UnreadableNote of_known{known.kernel->image().file(), findings};
  const core::UnreadableNote of_target{target.image().file(), findings};
  std::vector<InferredMember> found;
  const auto machine = target.image().machine();
  if (known.kernel->image().machine() != machine || !OperationReader::supports(machine))
    return found;
  for (const auto* const file : known.files) {
    auto table = pe::read_types(*file, findings);
    if (!table) continue;
    const pe::PdbTypes types{std::move(*table)};
    const Carrier carrier{known, types, target, target_services, signatures};
    for (const auto& request : requests)
      if (request.kind == MemberKind::offset) carrier.find(request, found);
    break;
  }
  return found;
}

}  // namespace coldtrace::syscall_map
