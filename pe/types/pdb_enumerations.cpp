#include "coldtrace/pdb/pdb_enumerations.hpp"

#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

void visit_enumerations(const Pdb& pdb, const std::set<std::string, std::less<>>& names,
                        core::Findings& findings,
                        const std::function<void(const PdbEnumeration&)>& take) {
  constexpr u32 type_stream = 2;
  if (names.empty() || pdb.msf().stream_size(type_stream).value_or(0) == 0) return;
  const auto table = TypeTable::read(pdb, findings);
  if (!table) {
    findings.warning("pdb-types", table.error());
    return;
  }
  core::Findings ambiguous;  // the first definition is what is asked for
  u64 steps_left = table->size();
  for (const auto& name : names) {
    const auto found = table->find_enumeration(name, ambiguous);
    const auto head = found ? read_enumeration(*table->find_record(*found)) : std::nullopt;
    if (!head) continue;
    PdbEnumeration enumeration{head->name, {}};
    FieldWalk fields{*table, head->fields};
    for (Field field; steps_left > 0 && fields.next(field); --steps_left)
      if (field.kind == Field::Kind::enumerator)
        enumeration.values.push_back({field.name, field.value});
    if (!fields.ok())
      findings.warning("pdb-types", std::nullopt, "the values of {} cannot all be read",
                       core::to_valid_utf8(head->name.substr(0, 256)));
    take(enumeration);
  }
}

}  // namespace coldtrace::pe
