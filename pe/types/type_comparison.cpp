#include "coldtrace/pdb/type_comparison.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/pdb/type_layers.hpp"
#include "coldtrace/pdb/type_members.hpp"
#include "coldtrace/pdb/type_selection.hpp"

namespace coldtrace::pe {
namespace {

using Definition = TypeTable::Definition;

constexpr std::size_t longest_content = 4096;
constexpr u32 most_levels = 8;

// One of the two files.
struct Side {
  const TypeTable& table;
  TypeBudget& budget;
  core::Findings& findings;
};

// The digits of "__unnamed_1a2b" and "__anonymous_1a2b", as symbol tables of Volatility call types
// without a name: the number of a record.
std::string_view record_number_of(std::string_view name) {
  for (const std::string_view start : {"__unnamed_", "__anonymous_"})
    if (name.starts_with(start)) {
      const auto digits = name.substr(start.size());
      if (!digits.empty() && digits.find_first_not_of("0123456789abcdef_") == digits.npos)
        return digits;
    }
  return {};
}

bool has_no_name(std::string_view name) {
  return is_unnamed(name) || !record_number_of(name).empty();
}

// LF_VTSHAPE, LF_METHODLIST, and which of its methods have a place in the virtual table behind
// them. Source: Microsoft, microsoft-pdb, cvinfo.h: lfVTShape, mlMethod, CV_fldattr_t.
constexpr u16 leaf_table_shape = 0x000a;
constexpr u16 leaf_method_list = 0x1206;
bool introduces_virtual(u16 attributes) {
  const auto kind = attributes >> 2 & 7;
  return kind == 4 || kind == 6;
}

// What a record holds that no text names: its number, and those of the records in it, are other
// ones in each build. Nothing of kinds that are not known.
std::string record_content(const TypeTable& table, core::ByteView record) {
  const auto leaf = core::load<u16>(record, 0);
  if (leaf == leaf_table_shape)
    return "<table " + core::to_hex(record.first(std::min(record.size(), longest_content))) + ">";
  if (leaf != leaf_method_list) return {};
  std::string text = "<methods";
  for (u64 at = 2; text.size() <= longest_content;) {
    const auto attributes = core::load<u16>(record, at);
    const auto type = core::load<u32>(record, at + 4);
    if (!attributes || !type) break;
    text += fmt::format(" {:#x} {};", *attributes, to_text(table, *type));
    at += introduces_virtual(*attributes) ? 12U : 8U;
  }
  return text + ">";
}

// Puts the content of a record in the place of its number, with which `text` ends.
void name_by_content(const TypeTable& table, const TypeLayer& last, std::string& text) {
  const auto* const record = table.find_record(last.index);
  const auto number = fmt::format("<type {:#x}>", last.index);
  if (record == nullptr || !text.ends_with(number)) return;
  const auto content = record_content(table, *record);
  if (!content.empty()) text.replace(text.size() - number.size(), number.size(), content);
}

// A type as text, with the members of those that have no name.
void append_content(const Side& side, u32 type, u32 level, std::string& text) {
  if (text.size() > longest_content) return;
  const auto layers = layers_of(side.table, type);
  const auto& last = layers.back();
  const bool unnamed = last.kind == TypeLayer::Kind::named && has_no_name(last.named->name);
  text += to_text(side.table, type);
  if (last.kind == TypeLayer::Kind::unknown) name_by_content(side.table, last, text);
  if (!unnamed || level == most_levels) return;
  // What stands for no name is another word in each compiler, and a number in each build.
  if (text.ends_with(last.named->name)) text.resize(text.size() - last.named->name.size());
  text += "<unnamed> {";
  visit_members(side.table, last.index, {}, side.budget, side.findings,
                [&](const TypeMember& member) {
                  const auto& field = member.field;
                  if (text.size() > longest_content) return;
                  text += fmt::format(" {:#x} {} ", field.value, field.name);
                  if (field.kind != Field::Kind::enumerator)
                    append_content(side, field.type, level + 1, text);
                  text += ';';
                });
  text += " }";
}

ComparedMember compared(const Side& side, const TypeMember& member) {
  const auto& field = member.field;
  ComparedMember result;
  if (field.kind == Field::Kind::enumerator) {
    result.value = field.value;
    return result;
  }
  if (field.kind == Field::Kind::member || field.kind == Field::Kind::base) {
    result.offset = member.offset;
    result.size = size_of(side.table, field.type);
    const auto* const record = side.table.find_record(field.type);
    if (const auto bits = record ? read_bit_field(*record) : std::nullopt) {
      result.bit_position = bits->position;
      result.bit_length = bits->length;
    }
  }
  append_content(side, field.type, 0, result.type);
  side.budget.take(result.type.size());
  return result;
}

// By kind and name; of those alike, by how many came before.
using Key = std::tuple<Field::Kind, std::string_view, u32>;
struct Row {
  Key key;
  ComparedMember member;
};

std::vector<Row> rows_of(const Side& side, u32 index) {
  std::vector<Row> rows;
  std::map<std::pair<Field::Kind, std::string_view>, u32> seen;
  visit_members(side.table, index, {}, side.budget, side.findings, [&](const TypeMember& member) {
    // A type without a name is compared where it is a member.
    if (member.field.kind == Field::Kind::nested && has_no_name(member.field.name)) return;
    const auto count = seen[{member.field.kind, member.field.name}]++;
    rows.push_back({{member.field.kind, member.field.name, count}, compared(side, member)});
  });
  return rows;
}

// A size that is not known is no other one.
bool differ(const std::optional<u64>& before, const std::optional<u64>& after) {
  return before && after && before != after;
}

bool differ(const MemberChange& change) {
  return !change.before || !change.after || change.moved() || change.resized() || change.retyped();
}

// Those of `before` in their order, then what is new.
std::vector<MemberChange> compare_members(std::vector<Row> before, std::vector<Row> after) {
  std::map<Key, std::size_t> new_places;
  for (std::size_t i = 0; i < after.size(); ++i) new_places.emplace(after[i].key, i);
  std::vector<bool> matched(after.size());
  std::vector<MemberChange> changes;
  const auto add = [&](MemberChange change) {
    if (differ(change)) changes.push_back(std::move(change));
  };
  for (auto& row : before) {
    MemberChange change{std::get<1>(row.key), std::get<0>(row.key), std::move(row.member), {}};
    if (const auto place = new_places.find(row.key); place != new_places.end()) {
      matched[place->second] = true;
      change.after = std::move(after[place->second].member);
    }
    add(std::move(change));
  }
  for (std::size_t i = 0; i < after.size(); ++i)
    if (!matched[i])
      add({std::get<1>(after[i].key), std::get<0>(after[i].key), {}, std::move(after[i].member)});
  return changes;
}

std::vector<Definition> named_definitions(const TypeTable& table,
                                          std::span<const std::string> wanted,
                                          core::Findings& findings) {
  auto types = select_types(table, wanted, findings);
  std::erase_if(types, [&](const Definition& type) {
    const auto head = read_type_head(*table.find_record(type.index));
    return !head || (head->properties & property_forward) != 0 || has_no_name(type.name);
  });
  return types;
}

bool comes_before(const Definition& a, const Definition& b) {
  return std::tie(a.name, a.family) < std::tie(b.name, b.family);
}

std::vector<Definition> by_name_and_family(std::vector<Definition> types) {
  std::stable_sort(types.begin(), types.end(), comes_before);
  return types;
}

}  // namespace

bool MemberChange::moved() const {
  return before && after &&
         std::tie(before->offset, before->bit_position) !=
             std::tie(after->offset, after->bit_position);
}

bool MemberChange::resized() const {
  return before && after &&
         (differ(before->size, after->size) || before->bit_length != after->bit_length);
}

bool MemberChange::retyped() const {
  // A bit field's type says where its bits are, which is told already.
  return before && after &&
         (before->value != after->value || (!before->bit_length && before->type != after->type));
}

TypeComparison compare_types(const TypeTable& before, const TypeTable& after,
                             std::span<const std::string> wanted, core::Findings& findings) {
  TypeBudget budget_before{before};
  TypeBudget budget_after{after};
  const Side old_side{before, budget_before, findings};
  const Side new_side{after, budget_after, findings};
  core::Findings of_before;
  core::Findings of_after;
  const auto old_types = by_name_and_family(named_definitions(before, wanted, of_before));
  const auto new_types = by_name_and_family(named_definitions(after, wanted, of_after));
  // What one of them has is not a mistake of who asked.
  if (of_before.count("no-match") > 0 && of_after.count("no-match") > 0) findings.merge(of_after);

  TypeComparison result;
  auto old_type = old_types.begin();
  auto new_type = new_types.begin();
  while (old_type != old_types.end() || new_type != new_types.end()) {
    const bool only_old = new_type == new_types.end() ||
                          (old_type != old_types.end() && comes_before(*old_type, *new_type));
    const bool only_new = old_type == old_types.end() ||
                          (new_type != new_types.end() && comes_before(*new_type, *old_type));
    TypeChange change{};
    if (!only_new) {
      change.name = old_type->name;
      change.family = old_type->family;
      change.before = old_type->index;
      change.size_before = size_of(before, old_type->index);
    }
    if (!only_old) {
      change.name = new_type->name;
      change.family = new_type->family;
      change.after = new_type->index;
      change.size_after = size_of(after, new_type->index);
    }
    if (!only_old && !only_new) {
      change.members =
          compare_members(rows_of(old_side, old_type->index), rows_of(new_side, new_type->index));
      const bool differs = !change.members.empty() || differ(change.size_before, change.size_after);
      ++(differs ? result.changed : result.same);
      if (differs) result.changes.push_back(std::move(change));
    } else {
      ++(only_old ? result.removed : result.added);
      result.changes.push_back(std::move(change));
    }
    if (!only_new) ++old_type;
    if (!only_old) ++new_type;
  }
  return result;
}

}  // namespace coldtrace::pe
