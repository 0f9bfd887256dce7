#include "coldtrace/tracefile/fields/schema_comparison.hpp"

#include <algorithm>
#include <map>

namespace coldtrace::tracefile {
namespace {

class Comparison {
 public:
  explicit Comparison(SchemaEquality equality) : equality_{equality} {}

  bool is_same(const std::vector<FieldSchema>& a, const std::vector<FieldSchema>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const auto& x, const auto& y) { return is_same(x, y); });
  }

 private:
  bool is_same(const FieldSchema& a, const FieldSchema& b) {
    if (a.in != b.in || a.optional != b.optional || (a.slot != 0) != (b.slot != 0) ||
        !is_same(a.length, b.length) || !is_same(a.count, b.count))
      return false;
    if (equality_ >= SchemaEquality::fields && a.name != b.name) return false;
    if (equality_ >= SchemaEquality::shown && a.out != b.out) return false;
    slots_[a.slot] = b.slot;
    return is_same(a.members, b.members);
  }

  // What gives an amount comes before it.
  bool is_same(const FieldSchema::Amount& a, const FieldSchema::Amount& b) {
    if (a.rule != b.rule) return false;
    return a.rule == FieldSchema::Rule::slot ? slots_[a.number] == b.number : a.number == b.number;
  }

  SchemaEquality equality_;
  std::map<u16, u16> slots_;  // of the second by that of the first
};

bool is_absent(const std::shared_ptr<const ValueMap>& map) {
  return !map || map->entries.empty();
}

// Calls `agree` with the maps of fields at the same places until it says no.
template <class Agree>
bool all_maps(const std::vector<FieldSchema>& a, const std::vector<FieldSchema>& b, Agree agree) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    return agree(x.map, y.map) && all_maps(x.members, y.members, agree);
  });
}

bool are_same(const ValueMap& a, const ValueMap& b) {
  return a.bits == b.bits && a.entries == b.entries;
}

}  // namespace

bool are_same(const EventSchema& a, const EventSchema& b, SchemaEquality equality) {
  return Comparison{equality}.is_same(a.fields, b.fields);
}

bool have_same_maps(const EventSchema& a, const EventSchema& b) {
  return all_maps(a.fields, b.fields, [](const auto& x, const auto& y) {
    return !x == !y && (!x || are_same(*x, *y));
  });
}

bool have_contradicting_maps(const EventSchema& a, const EventSchema& b) {
  return !all_maps(a.fields, b.fields, [](const auto& x, const auto& y) {
    return is_absent(x) || is_absent(y) || are_same(*x, *y);
  });
}

}  // namespace coldtrace::tracefile
