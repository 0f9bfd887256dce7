#pragma once

#include <utility>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// A hash table of ids and addresses whose values lie in one block of memory: nothing is ever
// removed. Pointers are valid until the next try_emplace().
template <class Value>
class KeyTable {
 public:
  // The value of the key, and whether it is `fresh`.
  std::pair<Value*, bool> try_emplace(u64 key, const Value& fresh) {
    if (4 * (size_ + 1) > 3 * slots_.size()) grow();
    auto& slot = slots_[place_of(key)];
    if (slot.is_used) return {&slot.value, false};
    slot = {key, fresh, true};
    ++size_;
    return {&slot.value, true};
  }

  [[nodiscard]] const Value* find_value(u64 key) const {
    if (slots_.empty()) return nullptr;
    const auto& slot = slots_[place_of(key)];
    return slot.is_used ? &slot.value : nullptr;
  }

  [[nodiscard]] std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    u64 key = 0;
    Value value{};
    bool is_used = false;
  };
  static constexpr std::size_t least_slots = 64;

  // Where the key is or would be. The number of slots is a power of two.
  std::size_t place_of(u64 key) const {
    auto hash = (key ^ key >> 33U) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 33U;
    auto at = static_cast<std::size_t>(hash) & (slots_.size() - 1);
    while (slots_[at].is_used && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void grow() {
    std::vector<Slot> before(slots_.empty() ? least_slots : 2 * slots_.size());
    before.swap(slots_);
    for (const auto& slot : before)
      if (slot.is_used) slots_[place_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace coldtrace::tracefile
