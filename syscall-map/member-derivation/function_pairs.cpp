#include "syscall-map/member-derivation/function_pairs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

namespace coldtrace::syscall_map {
namespace {

constexpr std::size_t most_pairs = 1 << 16;
constexpr u32 most_rounds = 8;
constexpr u64 border = 0x626f72646572;  // between what does not follow each other

// What stands around each operation.
std::vector<u64> contexts_of(const FunctionCode& function) {
  const auto& operations = function.operations;
  std::vector<u64> contexts;
  contexts.reserve(operations.size());
  const auto follows = [&](std::size_t i) { return operations[i - 1].end() == operations[i].rva; };
  for (std::size_t i = 0; i < operations.size(); ++i) {
    auto context = operations[i].shape;
    auto at = i;
    for (std::size_t step = 0; step < context_reach; ++step) {
      if (at == 0 || !follows(at)) {
        context = mixed(context, border);
        break;
      }
      context = mixed(context, operations[--at].shape);
    }
    context = mixed(context, 0);
    at = i;
    for (std::size_t step = 0; step < context_reach; ++step) {
      if (++at == operations.size() || !follows(at)) {
        context = mixed(context, border);
        break;
      }
      context = mixed(context, operations[at].shape);
    }
    contexts.push_back(context);
  }
  return contexts;
}

bool same_shapes(const FunctionCode& a, const FunctionCode& b) {
  return std::ranges::equal(a.operations, b.operations, {}, &Operation::shape, &Operation::shape);
}

std::unordered_map<u64, std::optional<u32>> single(const std::vector<u64>& contexts) {
  std::unordered_map<u64, std::optional<u32>> places;
  for (u32 i = 0; i < contexts.size(); ++i) {
    const auto [place, fresh] = places.try_emplace(contexts[i], i);
    if (!fresh) place->second.reset();
  }
  return places;
}

// Which functions agreeing operations call, or go on in.
class Callees {
 public:
  void add(const FunctionPair& pair, const FunctionCode& known, const FunctionCode& target) {
    for (const auto& [i, j] : pair.operations) {
      const auto& a = known.operations[i];
      const auto& b = target.operations[j];
      const bool call = a.flow == Operation::Flow::call && b.flow == Operation::Flow::call;
      if (!a.target || !b.target || (!call && !(known.leaves(a) && target.leaves(b)))) continue;
      there_[*a.target].insert(*b.target);
      back_[*b.target].insert(*a.target);
      callers_.emplace(*a.target, pair.name);
    }
  }

  // Of those that are called, each with one other, by the name of a caller.
  template <class Take>
  void each(Take&& take) const {
    for (const auto& [known, targets] : there_)
      if (targets.size() == 1 && back_.at(*targets.begin()).size() == 1)
        take(known, *targets.begin(), callers_.at(known));
  }

 private:
  std::map<pe::Rva, std::set<pe::Rva>> there_, back_;
  std::map<pe::Rva, std::string> callers_;
};

}  // namespace

std::vector<std::pair<u32, u32>> agreeing_operations(const FunctionCode& known,
                                                     const FunctionCode& target) {
  std::vector<std::pair<u32, u32>> agreeing;
  if (same_shapes(known, target)) {
    for (u32 i = 0; i < known.operations.size(); ++i) agreeing.emplace_back(i, i);
    return agreeing;
  }
  const auto ours = contexts_of(known);
  const auto our_places = single(ours);
  const auto their_places = single(contexts_of(target));
  for (u32 i = 0; i < ours.size(); ++i) {
    const auto theirs = their_places.find(ours[i]);
    if (our_places.at(ours[i]) && theirs != their_places.end() && theirs->second)
      agreeing.emplace_back(i, *theirs->second);
  }
  return agreeing;
}

std::vector<FunctionPair> pair_functions(const FunctionStore& known, const FunctionStore& target,
                                         const std::vector<std::pair<NamedPlace, pe::Rva>>& named) {
  std::vector<FunctionPair> pairs;
  std::set<pe::Rva> paired, taken;
  Callees callees;
  const auto add = [&](std::string name, pe::Rva ours, pe::Rva theirs) {
    if (pairs.size() == most_pairs || paired.contains(ours) || taken.contains(theirs)) return;
    paired.insert(ours);
    taken.insert(theirs);
    const auto& a = known.at(ours);
    const auto& b = target.at(theirs);
    pairs.push_back({std::move(name), ours, theirs, agreeing_operations(a, b)});
    callees.add(pairs.back(), a, b);
  };
  for (const auto& [place, theirs] : named) add(place.name, place.rva, theirs);
  for (u32 round = 0; round < most_rounds; ++round) {
    std::vector<FunctionPair> fresh;
    callees.each([&](pe::Rva ours, pe::Rva theirs, const std::string& caller) {
      if (!paired.contains(ours) && !taken.contains(theirs))
        fresh.push_back({caller, ours, theirs, {}});
    });
    if (fresh.empty()) break;
    for (auto& pair : fresh) {
      const auto nested = pair.name.starts_with("called ");
      add(nested ? pair.name : fmt::format("called by {}", pair.name), pair.known, pair.target);
    }
  }
  return pairs;
}

}  // namespace coldtrace::syscall_map
