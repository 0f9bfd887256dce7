#include "coldtrace/syscall-map/servicing/export_comparison.hpp"

#include <algorithm>
#include <tuple>

namespace coldtrace::syscall_map {
namespace {

// What the loader finds an export by.
struct Place {
  std::string_view name;
  u32 ordinal;  // of those without a name; of others how many of the name came before
  const pe::Export* found;

  auto key() const { return std::tie(name, ordinal); }
};

std::vector<Place> places_of(const pe::ExportDirectory& directory) {
  std::vector<Place> places;
  places.reserve(directory.exports.size());
  for (const auto& found : directory.exports) places.push_back({found.name, found.ordinal, &found});
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.name, a.found->ordinal) < std::tie(b.name, b.found->ordinal);
  });
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!places[i].name.empty())
      places[i].ordinal =
          i > 0 && places[i - 1].name == places[i].name ? places[i - 1].ordinal + 1 : 0;
  return places;
}

ComparedExport compared(const pe::Export& found) {
  return {found.ordinal, found.address,
          found.is_forwarder ? std::optional{std::string{found.forwarder}} : std::nullopt};
}

void add(ExportComparison& comparison, const pe::Export* before, const pe::Export* after) {
  ExportChange change{std::string{(before ? before : after)->name}, {}, {}};
  if (before) change.before = compared(*before);
  if (after) change.after = compared(*after);
  comparison.added += before == nullptr;
  comparison.removed += after == nullptr;
  comparison.renumbered += change.renumbered();
  comparison.redirected += change.redirected();
  comparison.moved += change.moved();
  if (!before || !after || change.renumbered() || change.redirected() || change.moved())
    comparison.changes.push_back(std::move(change));
}

}  // namespace

bool ExportChange::renumbered() const {
  return before && after && before->ordinal != after->ordinal;
}

bool ExportChange::redirected() const {
  return before && after && before->forwarder != after->forwarder;
}

bool ExportChange::moved() const {
  // The address of a forwarder is that of its text.
  return before && after && !before->forwarder && !after->forwarder &&
         before->address != after->address;
}

ExportComparison compare_exports(const pe::ExportDirectory& before,
                                 const pe::ExportDirectory& after) {
  ExportComparison comparison;
  comparison.before = before.exports.size();
  comparison.after = after.exports.size();
  const auto old_places = places_of(before);
  const auto new_places = places_of(after);
  auto from = old_places.begin();
  auto to = new_places.begin();
  while (from != old_places.end() || to != new_places.end()) {
    const bool only_old =
        to == new_places.end() || (from != old_places.end() && from->key() < to->key());
    const bool only_new =
        from == old_places.end() || (to != new_places.end() && to->key() < from->key());
    add(comparison, only_new ? nullptr : from->found, only_old ? nullptr : to->found);
    if (!only_new) ++from;
    if (!only_old) ++to;
  }
  return comparison;
}

}  // namespace coldtrace::syscall_map
