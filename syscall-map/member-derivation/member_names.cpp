#include "coldtrace/core/glob.hpp"
#include "coldtrace/pdb/pdb_types.hpp"
#include "coldtrace/pdb/type_file.hpp"
#include "coldtrace/pdb/type_selection.hpp"
#include "coldtrace/syscall-map/member-derivation/member_derivation.hpp"

namespace coldtrace::syscall_map {

std::vector<std::string> find_member_names(const KnownBuild& known, std::string_view wanted,
                                           core::Findings& findings) {
  std::vector<std::string> names;
  const auto [type, path] = split_member(wanted);
  for (const auto* const file : known.files) {
    const auto table = pe::read_types(*file, findings);
    if (!table) continue;
    core::Findings ignored;  // that nothing matches is told by an empty list
    std::string_view last;
    for (const auto& definition :
         pe::select_types(*table, std::vector{std::string{type}}, ignored)) {
      if (definition.family == pe::TypeTable::Family::enumeration || definition.name == last)
        continue;  // of several of one name the first counts, as for the layout
      last = definition.name;
      const auto* const record = table->find_record(definition.index);
      const auto head = record ? pe::read_type_head(*record) : std::nullopt;
      if (!head) continue;
      pe::FieldWalk walk{*table, head->fields};
      pe::Field field;
      while (names.size() < most_members && walk.next(field)) {
        if (field.kind != pe::Field::Kind::member ||
            !glob_matches(path, field.name, GlobCase::sensitive))
          continue;
        const auto* const kind = table->find_record(table->unmodified(field.type));
        if (kind && pe::read_bit_field(*kind)) continue;
        names.push_back(std::string{definition.name} + "." + std::string{field.name});
      }
    }
    break;
  }
  return names;
}

}  // namespace coldtrace::syscall_map
