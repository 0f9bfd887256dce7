#include "coldtrace/pdb/isf_fields.hpp"

#include <set>
#include <utility>
#include <vector>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 most_levels = 16;

class FieldVisit {
 public:
  FieldVisit(const TypeTable& table, TypeBudget& budget, core::Findings& findings,
             const std::function<void(const IsfField&)>& take)
      : table_{table}, budget_{budget}, findings_{findings}, take_{take} {}

  void visit(u32 index, u64 start, u32 level) {
    std::vector<std::pair<u32, u64>> bases;
    visit_members(table_, index, {}, budget_, findings_, [&](const TypeMember& member) {
      const auto& field = member.field;
      const auto offset = core::checked_add(start, member.offset);
      if (!offset)
        return findings_.warning("pdb-type-range", std::nullopt,
                                 "members of base classes lie beyond 64 bits, and are left out");
      if (field.kind == Field::Kind::base) bases.emplace_back(field.type, *offset);
      auto name = core::to_valid_utf8(field.name);
      if (field.kind != Field::Kind::member || name.empty() || !taken_.insert(name).second) return;
      take_({std::move(name), *offset, field.type});
    });
    if (level == most_levels) return;
    core::Findings ignored;  // of several definitions the first is what the table has of the name
    for (const auto& [type, offset] : bases)
      if (const auto found = table_.find_definition(table_.unmodified(type), ignored))
        visit(*found, offset, level + 1);
  }

 private:
  const TypeTable& table_;
  TypeBudget& budget_;
  core::Findings& findings_;
  const std::function<void(const IsfField&)>& take_;
  std::set<std::string> taken_;
};

}  // namespace

void visit_isf_fields(const TypeTable& table, u32 index, TypeBudget& budget,
                      core::Findings& findings, const std::function<void(const IsfField&)>& take) {
  FieldVisit{table, budget, findings, take}.visit(index, 0, 0);
}

}  // namespace coldtrace::pe
