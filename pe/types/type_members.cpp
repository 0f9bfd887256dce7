#include "coldtrace/pdb/type_members.hpp"

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/simple_types.hpp"
#include "pe/types/method_list.hpp"

namespace coldtrace::pe {
namespace {

using Take = std::function<void(const TypeMember&)>;

class Visitor {
 public:
  Visitor(const TypeTable& table, const MemberChoice& choice, TypeBudget& budget,
          core::Findings& findings, const Take& take)
      : table_{table}, choice_{choice}, budget_{budget}, findings_{findings}, take_{take} {}

  void visit(u32 index, u64 base, u32 level, const std::string& prefix) {
    const auto& record = *table_.find_record(index);
    const auto head = read_type_head(record);
    if (!head) return;
    const auto enumeration = read_enumeration(record);
    const auto* const integer = enumeration ? find_simple_type(enumeration->underlying) : nullptr;
    const auto aggregate = read_aggregate(record);
    FieldWalk fields{table_, head->fields};
    for (Field field; fields.next(field);) {
      if (!budget_.take(field.name.size() + prefix.size() + 32)) return report_limit();
      if (field.kind == Field::Kind::enumerator) field.value = to_integer(field.value, integer);
      if (aggregate && is_placed(field) && field.value > aggregate->size)
        findings_.warning("pdb-type-range", std::nullopt,
                          "{} of {} lies at {:#x}, outside the {:#x} bytes of its type",
                          shown(field.name), shown(head->name), field.value, aggregate->size);
      if (choice_.each_overload && field.kind == Field::Kind::overloads) {
        if (!take_overloads(field, base, level, prefix)) return report_limit();
      } else {
        take(field, base, level, prefix);
      }
    }
    if (!fields.ok())
      findings_.warning("pdb-type-unknown", std::nullopt,
                        "the members of {} cannot all be read, from one of kind {:#06x} on",
                        shown(head->name), fields.kind());
  }

 private:
  static bool is_placed(const Field& field) {
    return field.kind == Field::Kind::member || field.kind == Field::Kind::base;
  }
  static std::string shown(std::string_view name) {
    return core::to_valid_utf8(name.substr(0, 256));
  }

  // Each as a method of the name; all as one where their list cannot be read. False: no budget.
  bool take_overloads(const Field& several, u64 base, u32 level, const std::string& prefix) {
    const auto* const record = table_.find_record(several.type);
    const auto methods = record ? read_method_list(*record) : std::nullopt;
    if (!methods) {
      findings_.warning("pdb-type-unknown", std::nullopt, "the overloads of {} cannot be read",
                        shown(several.name));
      take(several, base, level, prefix);
      return true;
    }
    for (auto method : *methods) {
      if (!budget_.take(several.name.size() + 32)) return false;
      method.name = several.name;
      take(method, base, level, prefix);
    }
    return true;
  }

  void take(const Field& field, u64 base, u32 level, const std::string& prefix) {
    const bool placed = is_placed(field);
    const auto place = core::checked_add(base, placed ? field.value : 0);
    if (!place)
      return findings_.warning(
          "pdb-type-range", std::nullopt,
          "{} lies beyond 64 bits from the start of the outermost type, and is "
          "left out",
          shown(prefix + std::string{field.name}));
    const u64 offset = *place;
    const auto inner = placed && level < choice_.depth ? structure_of(field.type) : std::nullopt;
    if (choice_.paths) {
      if (inner) {
        const bool is_base = field.kind == Field::Kind::base;
        return visit(*inner, offset, level + 1,
                     is_base ? prefix : fmt::format("{}{}.", prefix, field.name));
      }
      if (field.kind != Field::Kind::member && field.kind != Field::Kind::enumerator) return;
      const auto path = prefix + std::string{field.name};
      return take_({field, offset, 0, path});
    }
    take_({field, offset, level, field.name});
    if (inner) visit(*inner, offset, level + 1, prefix);
  }

  // The definition of a structure or union; not of arrays of them.
  std::optional<u32> structure_of(u32 type) {
    const auto found = table_.find_definition(table_.unmodified(type), findings_);
    if (!found || !read_aggregate(*table_.find_record(*found))) return std::nullopt;
    return found;
  }

  void report_limit() {
    findings_.warning("pdb-type-limit", std::nullopt,
                      "the types together have more members than the file can justify; others are "
                      "left out");
  }

  const TypeTable& table_;
  const MemberChoice& choice_;
  TypeBudget& budget_;
  core::Findings& findings_;
  const Take& take_;
};

}  // namespace

void visit_members(const TypeTable& table, u32 index, const MemberChoice& choice,
                   TypeBudget& budget, core::Findings& findings, const Take& take) {
  MemberChoice bounded = choice;
  bounded.depth = std::min(choice.depth, deepest_members);
  Visitor{table, bounded, budget, findings, take}.visit(index, 0, 0, {});
}

}  // namespace coldtrace::pe
