#include "coldtrace/syscall-map/stubs/comparison.hpp"

#include <algorithm>
#include <map>

#include "coldtrace/core/text.hpp"

namespace coldtrace::syscall_map {
namespace {

using Kind = ServiceChange::Kind;

struct Pair {
  std::string name;
  const Service* before;
  const Service* after;
  bool in_order = false;
};

using ByName = std::map<std::string, const Service*>;

ByName by_name(const std::vector<Service>& services, ServiceTable table) {
  ByName names;
  for (const auto& service : services)
    if (service.table == table && !service.name.empty())
      names.emplace(to_nt_name(service.name), &service);
  return names;
}

// Marks a longest subsequence of pairs whose numbers rise in the second image too: patience
// sorting, O(n log n).
void mark_in_order(std::vector<Pair>& pairs) {
  std::vector<std::size_t> ends;  // the pair that ends the best subsequence of each length
  std::vector<std::size_t> previous(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto place =
        std::lower_bound(ends.begin(), ends.end(), i, [&](std::size_t a, std::size_t b) {
          return pairs[a].after->number < pairs[b].after->number;
        });
    previous[i] = place == ends.begin() ? i : *std::prev(place);
    if (place == ends.end()) {
      ends.push_back(i);
    } else {
      *place = i;
    }
  }
  if (ends.empty()) return;
  for (auto i = ends.back();; i = previous[i]) {
    pairs[i].in_order = true;
    if (previous[i] == i) break;
  }
}

std::string argument_change(const Pair& pair) {
  if (!pair.before->argument_bytes || !pair.after->argument_bytes ||
      pair.before->argument_bytes == pair.after->argument_bytes)
    return {};
  return fmt::format("{} became {}",
                     core::counted(*pair.before->argument_bytes, "stack byte", "stack bytes"),
                     *pair.after->argument_bytes);
}

void compare_table(const ByName& before, const ByName& after, ServiceTable table,
                   Comparison& comparison) {
  std::vector<Pair> pairs;
  for (const auto& [name, service] : before) {
    const auto other = after.find(name);
    if (other == after.end()) {
      comparison.changes.push_back({Kind::removed, table, name, service->number, {}, {}});
    } else {
      pairs.push_back({name, service, other->second});
    }
  }
  for (const auto& [name, service] : after)
    if (!before.contains(name))
      comparison.changes.push_back({Kind::inserted, table, name, {}, service->number, {}});

  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& a, const Pair& b) { return a.before->number < b.before->number; });
  mark_in_order(pairs);
  comparison.common += pairs.size();
  ServiceShift shift{table, 0, 0, 0, 0};
  const auto end_shift = [&] {
    if (shift.count > 0 && shift.distance != 0) comparison.shifts.push_back(shift);
    shift.count = 0;
  };
  for (const auto& pair : pairs) {
    const auto from = pair.before->number;
    const auto to = pair.after->number;
    if (from != to) ++comparison.renumbered;
    if (const auto detail = argument_change(pair); !detail.empty())
      comparison.changes.push_back({Kind::changed, table, pair.name, from, to, detail});
    if (!pair.in_order) {
      comparison.changes.push_back({Kind::moved, table, pair.name, from, to, {}});
      continue;
    }
    const i32 distance = i32{to} - i32{from};
    if (shift.count == 0 || distance != shift.distance) {
      end_shift();
      shift = {table, from, from, distance, 0};
    }
    shift.last_before = from;
    ++shift.count;
  }
  end_shift();
}

}  // namespace

Comparison compare_services(const std::vector<Service>& before, const std::vector<Service>& after) {
  Comparison comparison;
  for (const auto table : {ServiceTable::nt, ServiceTable::win32k})
    compare_table(by_name(before, table), by_name(after, table), table, comparison);
  std::stable_sort(comparison.changes.begin(), comparison.changes.end(),
                   [](const ServiceChange& a, const ServiceChange& b) {
                     return a.after.value_or(a.before.value_or(0)) <
                            b.after.value_or(b.before.value_or(0));
                   });
  return comparison;
}

void note_copy(const std::vector<Service>& services_of_first, const std::vector<Service>& services,
               std::string_view first, core::Findings& findings) {
  if (compare_services(services_of_first, services).same())
    findings.info("image-twice", std::nullopt, "has the headers and the services of {}", first);
  else
    findings.warning("image-conflict", std::nullopt,
                     "has the headers of {} but different services, and is left out", first);
}

}  // namespace coldtrace::syscall_map
