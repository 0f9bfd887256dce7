#include "coldtrace/pdb/pdb_types.hpp"

#include <vector>

#include "coldtrace/core/checked.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 most_levels = 32;  // of members of members and of base classes

}  // namespace

// A search for one member. Records refer to earlier ones alone, but for declarations; what a
// damaged file makes of that ends with the budget.
class PdbTypes::Search {
 public:
  Search(const TypeTable& table, core::Findings& findings)
      : table_{table}, findings_{findings}, steps_left_{table.size()} {}

  std::optional<Field> find_member(u32 type, std::string_view name, u32 level = 0) {
    const auto definition = find_definition(type);
    if (!definition || level == most_levels) return std::nullopt;
    std::vector<Field> bases;
    FieldWalk fields{table_, definition->fields};
    for (Field field; steps_left_ > 0 && fields.next(field); --steps_left_) {
      if (field.kind == Field::Kind::member && field.name == name) return field;
      if (field.kind == Field::Kind::base) bases.push_back(field);
    }
    if (!fields.ok() && fields.kind() != 0)
      findings_.warning("pdb-type-unknown", std::nullopt,
                        "the members of {} cannot be read from one of kind {:#06x} on; {} is not "
                        "among those before it",
                        definition->name, fields.kind(), name);
    for (const auto& base : bases)
      if (auto member = find_member(base.type, name, level + 1)) {
        member->value = core::saturating_add(member->value, base.value);
        return member;
      }
    return std::nullopt;
  }

 private:
  // The definition of a type, which may be named by a declaration and be const or volatile.
  std::optional<Aggregate> find_definition(u32 type) {
    const auto index = table_.unmodified(type);
    const auto* const record = table_.find_record(index);
    if (!record) return std::nullopt;
    if (is_unread_definition(*record)) {
      findings_.warning("pdb-type-unknown", std::nullopt,
                        "type {:#x} is a record of kind {:#06x}, which cannot be read", index,
                        kind_of(*record));
      return std::nullopt;
    }
    const auto found = table_.find_definition(index, findings_);
    if (found) return read_aggregate(*table_.find_record(*found));
    if (const auto declared = read_aggregate(*record))
      table_.report_unread(declared->name, findings_);
    return std::nullopt;
  }

  const TypeTable& table_;
  core::Findings& findings_;
  u64 steps_left_;
};

core::Result<PdbTypes> PdbTypes::read(const Pdb& pdb, core::Findings& findings) {
  PdbTypes types;
  types.table_ = COLDTRACE_TRY(TypeTable::read(pdb, findings));
  return types;
}

std::optional<u32> PdbTypes::offset_of(std::string_view structure, std::string_view path,
                                       core::Findings& findings) const {
  const auto member = find(structure, path, findings);
  if (member && !member->offset)
    findings.warning("pdb-type-range", std::nullopt, "{}.{} lies beyond 32 bits", structure, path);
  return member ? member->offset : std::nullopt;
}

std::optional<PdbTypes::Member> PdbTypes::find(std::string_view structure, std::string_view path,
                                               core::Findings& findings) const {
  Search search{table_, findings};
  auto type = table_.find_structure(structure, findings);
  if (!type) table_.report_unread(structure, findings);
  u64 offset = 0;
  for (u32 level = 0; type && level < most_levels; ++level) {
    const auto dot = path.find('.');
    const auto member = search.find_member(*type, path.substr(0, dot));
    if (!member) return std::nullopt;
    offset = core::saturating_add(offset, member->value);
    type = member->type;
    if (dot == path.npos)
      return Member{offset <= ~u32{0} ? std::optional{static_cast<u32>(offset)} : std::nullopt,
                    *type};
    path.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

}  // namespace coldtrace::pe
