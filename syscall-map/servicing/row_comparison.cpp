#include "coldtrace/syscall-map/servicing/row_comparison.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {
namespace {

using Key = std::tuple<HookRowKind, std::string, u32>;

void worsen(RowState& state, RowState other) {
  state = std::max(state, other);
}

// Nothing where the value is not known or is not such a number.
std::optional<u64> number_in(const HookRow& row, std::string_view member) {
  const auto* const value = row.find(member);
  const auto* const number = value ? std::get_if<u64>(&value->content) : nullptr;
  return number ? std::optional{*number} : std::nullopt;
}

// That of the name of a service, in KiServicesTab.
std::optional<u64> hash_of(const HookRow& row) {
  return number_in(row, "name_hash");
}

// The rows of the new build, to be found by name.
class NewRows {
 public:
  explicit NewRows(const HookTable& table) : rows_{list_hook_rows(table)}, used_(rows_.size()) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto& row = rows_[i];
      const auto number = number_in(row, "number");
      if (row.kind == HookRowKind::service && row.name.empty() && number)
        unnamed_.emplace(*number, i);
      else
        places_.emplace(key(row, row.name, row.occurrence), i);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (const auto hash = hash_of(rows_[i])) hashes_.emplace(*hash, i);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (const auto& alias : rows_[i].aliases) places_.emplace(key(rows_[i], alias, 0), i);
  }

  // Null where the build has no such row. Of a service that nothing names, the one that has the
  // hash of its name, as no other, else the one without name that has its number.
  const HookRow* take(const HookRow& row) {
    if (row.kind == HookRowKind::service && row.name.empty()) {
      if (const auto hash = hash_of(row); hash && hashes_.count(*hash) == 1)
        return take(hashes_.find(*hash)->second);
      const auto found = unnamed_.find(number_in(row, "number").value_or(~u64{0}));
      return found == unnamed_.end() ? nullptr : take(found->second);
    }
    if (const auto* const found = take(row, row.name, row.occurrence)) return found;
    for (const auto& alias : row.aliases)
      if (const auto* const found = take(row, alias, 0)) return found;
    return nullptr;
  }

  template <class Take>
  void each_unused(Take&& take) const {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (!used_[i]) take(rows_[i]);
  }

 private:
  static Key key(const HookRow& row, const std::string& name, u32 occurrence) {
    return {row.kind, row.kind == HookRowKind::service ? to_nt_name(name) : name, occurrence};
  }

  const HookRow* take(std::size_t index) {
    used_[index] = true;
    return &rows_[index];
  }
  const HookRow* take(const HookRow& row, const std::string& name, u32 occurrence) {
    const auto found = places_.find(key(row, name, occurrence));
    return found == places_.end() ? nullptr : take(found->second);
  }

  std::vector<HookRow> rows_;
  std::vector<bool> used_;
  std::map<Key, std::size_t> places_;
  std::map<u64, std::size_t> unnamed_;      // by number
  std::multimap<u64, std::size_t> hashes_;  // by the hash of the name
};

struct Verdict {
  RowState state;
  std::string reason;
};

template <class Records, class Is>
u64 count_if(const Records& records, Is is) {
  return static_cast<u64>(std::count_if(records.begin(), records.end(), is));
}

// Why the new build has no service of that name.
Verdict missing_service(const HookRow& row, const HookTable& build) {
  const auto table = table_of(static_cast<u16>(number_in(row, "number").value_or(0)));
  if (row.name.empty())
    return {RowState::unproved, "nothing names the service, so it cannot be followed"};
  const auto is_of_table = [&](const HookService& service) { return service.table == table; };
  if (count_if(build.services, is_of_table) == 0)
    return {RowState::unproved,
            fmt::format("no services of {} are known in the new build", to_string(table))};
  const auto unnamed = count_if(build.services, [&](const HookService& service) {
    return is_of_table(service) && service.names.empty();
  });
  if (unnamed > 0)
    return {RowState::unproved,
            core::counted(unnamed, "service of the new build has no name, and may be it",
                          "services of the new build have no name, and it may be one of them")};
  return {RowState::gone, "the new build names all its services, and none has this name"};
}

Verdict missing_point(const HookRow& row, const ComparedBuild& build) {
  for (const auto& point : build.table.get().trace_points) {
    if (point.requested != row.name || point.eligible()) continue;
    const auto& refusal = point.refusals.front();
    const bool unknown = refusal.code == TraceRefusal::ambiguous ||
                         (refusal.code == TraceRefusal::not_found && !build.has_symbols);
    return {unknown ? RowState::unproved : RowState::gone,
            fmt::format("{}: {}", to_string(refusal.code), refusal.text)};
  }
  return {RowState::unproved, "it was not planned for the new build"};
}

Verdict missing(const HookRow& row, const ComparedBuild& build) {
  const auto& table = build.table.get();
  switch (row.kind) {
    case HookRowKind::service:
      return missing_service(row, table);
    case HookRowKind::interface:
      return {RowState::gone, "the new kernel neither exports nor imports it"};
    case HookRowKind::trace_point:
      return missing_point(row, build);
    case HookRowKind::member:
      if (build.has_symbols && !build.has_types)
        return {RowState::unproved,
                "nothing shows it in the new build, as the types of its PDB are not available"};
      if (build.has_symbols) return {RowState::gone, "the PDB of the new build does not have it"};
      return {RowState::unproved, "nothing shows it in the new build, for which no PDB was given"};
    case HookRowKind::context_switch: {
      std::string reasons;
      for (const auto& reason : table.context_switch.reasons)
        reasons += (reasons.empty() ? "" : "; ") + reason;
      return {RowState::unproved, reasons.empty() ? "it was not found in the new build" : reasons};
    }
    default:
      return {RowState::unproved, "it was not found in the new build"};
  }
}

void compare_values(const HookRow& before, const HookRow& after, RowChange& change) {
  for (const auto& value : before.values) {
    const auto* const other = after.find(value.member);
    if (other == nullptr) {
      worsen(change.state, RowState::unproved);
      change.reason = fmt::format("{} is not known in the new build", value.member);
    } else if (other->content != value.content) {
      worsen(change.state, value.is_place ? RowState::moved : RowState::changed);
    } else {
      continue;
    }
    change.values.push_back(
        {value.member, value.content, other ? std::optional{other->content} : std::nullopt});
  }
}

bool same_hash(const HookRow& a, const HookRow& b) {
  return hash_of(a) && hash_of(a) == hash_of(b);
}

RowChange whole_row(const HookRow& row, Verdict verdict) {
  RowChange change{row.kind, row.name, verdict.state, std::move(verdict.reason), {}};
  for (const auto& value : row.values) {
    ChangedValue& changed = change.values.emplace_back();
    changed.member = value.member;
    (change.state == RowState::added ? changed.after : changed.before) = value.content;
  }
  return change;
}

}  // namespace

std::string_view to_string(RowState state) {
  switch (state) {
    case RowState::survives:
      return "survives";
    case RowState::moved:
      return "moved";
    case RowState::unproved:
      return "unproved";
    case RowState::changed:
      return "changed";
    case RowState::gone:
      return "gone";
    case RowState::added:
      return "added";
  }
  return "";
}

std::vector<RowChange> compare_hook_rows(const HookTable& before, const ComparedBuild& after) {
  NewRows rows{after.table};
  std::vector<RowChange> changes;
  for (const auto& row : list_hook_rows(before)) {
    const auto* const other = rows.take(row);
    if (other == nullptr) {
      changes.push_back(whole_row(row, missing(row, after)));
      continue;
    }
    RowChange change{row.kind, row.name, RowState::survives, {}, {}};
    compare_values(row, *other, change);
    // A number without a name may belong to another function; the hash stands for the name.
    if (row.name.empty() && change.state != RowState::survives && !same_hash(row, *other)) {
      change.state = RowState::unproved;
      change.reason = "nothing names the service, so it cannot be followed";
    }
    changes.push_back(std::move(change));
  }
  rows.each_unused([&](const HookRow& row) {
    changes.push_back(whole_row(row, {RowState::added, {}}));
  });
  return changes;
}

std::vector<RowChange> unproved_rows(const HookTable& before, std::string_view reason) {
  std::vector<RowChange> changes;
  for (const auto& row : list_hook_rows(before))
    changes.push_back(whole_row(row, {RowState::unproved, std::string{reason}}));
  return changes;
}

}  // namespace coldtrace::syscall_map
