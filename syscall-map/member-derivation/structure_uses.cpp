#include "syscall-map/member-derivation/structure_uses.hpp"

#include <set>

#include "syscall-map/member-derivation/known_prototypes.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr u64 most_operations = u64{16} << 20;  // that are looked at, over all functions

// What is known of the arguments of a function: what it is passed, and what it is passed otherwise.
struct Arguments {
  ArgumentTypes types;
  std::array<bool, most_arguments> several{};

  // Whether anything changed.
  bool add(std::size_t number, u32 structure) {
    if (several[number] || types[number] == structure) return false;
    several[number] = types[number].has_value();
    types[number] = several[number] ? std::nullopt : std::optional{structure};
    return true;
  }
};

class Search {
 public:
  Search(const std::vector<FunctionPair>& pairs, const FunctionStore& functions,
         const StructureLayout& layout, const std::vector<NamedPlace>& names)
      : pairs_{pairs}, functions_{functions}, layout_{layout}, arguments_(pairs.size()) {
    for (std::size_t i = 0; i < pairs.size(); ++i) numbers_.emplace(pairs[i].known, i);
    for (const auto& place : names) names_.emplace(place.rva, place.name);
    around_ = {&functions, &layout, [this](pe::Rva rva) { return name_of(rva); }};
  }

  std::vector<StructureUse> run() {
    for (const auto& [rva, name] : names_)
      if (const auto pair = numbers_.find(rva); pair != numbers_.end())
        add_known(pair->second, name);
    std::set<std::size_t> waiting;
    for (std::size_t i = 0; i < pairs_.size(); ++i) waiting.insert(i);
    while (!waiting.empty()) {
      const auto pair = *waiting.begin();
      waiting.erase(waiting.begin());
      uses_[pair].clear();
      look_at(pair, waiting);
    }
    std::vector<StructureUse> all;
    for (const auto& [pair, uses] : uses_) all.insert(all.end(), uses.begin(), uses.end());
    return all;
  }

 private:
  // Of several names of one place the first that is known to point somewhere.
  std::string_view name_of(pe::Rva rva) const {
    const auto [first, last] = names_.equal_range(rva);
    for (auto name = first; name != last; ++name)
      if (!known_pointer(name->second).empty() || !known_result(name->second).empty())
        return name->second;
    return {};
  }

  void add_known(std::size_t pair, std::string_view name) {
    const auto known = known_argument(name);
    if (!known) return;
    const auto structure = layout_.find(known->structure);
    const auto number = argument_place(functions_.reader(), known->number);
    if (structure && number < most_arguments) arguments_[pair].add(number, *structure);
  }

  void look_at(std::size_t pair, std::set<std::size_t>& waiting) {
    const auto& function = functions_.at(pairs_[pair].known);
    looked_at_ += function.operations.size();
    if (looked_at_ > most_operations) return;
    const FlowVisitor visitor{[&](std::size_t operation, u32 structure) {
                                uses_[pair].push_back({pair, operation, structure});
                              },
                              [&](pe::Rva callee, const ArgumentTypes& passed) {
                                const auto called = numbers_.find(callee);
                                if (called == numbers_.end()) return;
                                bool changed = false;
                                for (std::size_t i = 0; i < passed.size(); ++i)
                                  if (passed[i])
                                    changed |= arguments_[called->second].add(i, *passed[i]);
                                if (changed) waiting.insert(called->second);
                              }};
    follow_pointers(function, pairs_[pair].known, arguments_[pair].types, around_, visitor);
  }

  const std::vector<FunctionPair>& pairs_;
  const FunctionStore& functions_;
  const StructureLayout& layout_;
  std::vector<Arguments> arguments_;
  std::map<pe::Rva, std::size_t> numbers_;
  std::multimap<pe::Rva, std::string> names_;
  std::map<std::size_t, std::vector<StructureUse>> uses_;
  FlowSurroundings around_;
  u64 looked_at_ = 0;
};

}  // namespace

std::vector<StructureUse> find_structure_uses(const std::vector<FunctionPair>& pairs,
                                              const FunctionStore& functions,
                                              const StructureLayout& layout,
                                              const std::vector<NamedPlace>& names) {
  return Search{pairs, functions, layout, names}.run();
}

}  // namespace coldtrace::syscall_map
