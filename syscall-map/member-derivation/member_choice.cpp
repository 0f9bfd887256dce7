#include "coldtrace/syscall-map/member-derivation/member_choice.hpp"

#include <algorithm>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/pdb/pdb_types.hpp"
#include "coldtrace/pdb/type_file.hpp"
#include "coldtrace/pdb/type_selection.hpp"

namespace coldtrace::syscall_map {
namespace {

std::vector<std::string> find_member_names(const KnownBuild& known, std::string_view wanted) {
  std::vector<std::string> names;
  const auto [type, path] = split_member(wanted);
  core::Findings ignored;  // told when the types are read for the members themselves
  for (const auto* const file : known.files) {
    const auto table = pe::read_types(*file, ignored);
    if (!table) continue;
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

}  // namespace

std::vector<MemberRequest> request_members(std::string_view wanted,
                                           std::span<const KnownBuild> known, pe::Machine machine) {
  if (!is_glob(wanted))
    return {{std::string{wanted}, MemberKind::offset, {std::string{wanted}}, false}};
  std::vector<MemberRequest> requests;
  for (const auto& build : known) {
    if (build.kernel->image().machine() != machine) continue;
    for (auto& name : find_member_names(build, wanted))
      if (std::ranges::find(requests, name, &MemberRequest::name) == requests.end())
        requests.push_back({name, MemberKind::offset, {name}, true});
  }
  return requests;
}

void keep_shown_members(std::string_view wanted, std::vector<MemberValue>& members,
                        core::Findings& findings) {
  if (!is_glob(wanted)) return;
  const auto asked = members.size();
  std::erase_if(members, [](const MemberValue& member) { return !member.value; });
  if (asked == 0)
    findings.warning("no-match", std::nullopt, "{}: no known build has such a member", wanted);
  else if (members.empty())
    findings.warning(
        "member-missing", std::nullopt, "{}: nothing shows where {}", wanted,
        asked == 1 ? std::string{"it lies"} : fmt::format("any of {} such members lie", asked));
}

}  // namespace coldtrace::syscall_map
