#include "syscall-map/member-derivation/structure_layout.hpp"

#include "coldtrace/pdb/type_layers.hpp"
#include "syscall-map/member-derivation/known_prototypes.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr u32 deepest = 16;  // members of members

}  // namespace

std::optional<u32> StructureLayout::find(std::string_view name) const {
  const auto known = names_.find(name);
  if (known != names_.end()) return known->second;
  const auto index = types_.table().find_structure(name, ignored_);
  const auto found = index ? std::optional{whole(*index, name)} : std::nullopt;
  names_.emplace(std::string{name}, found);
  return found;
}

u32 StructureLayout::whole(u32 structure, std::string_view name) const {
  const char* outer = nullptr;
  const char* member = nullptr;
  if (name == "_KTHREAD") {
    outer = "_ETHREAD";
    member = "Tcb";
  } else if (name == "_KPROCESS") {
    outer = "_EPROCESS";
    member = "Pcb";
  } else {
    return structure;
  }
  const auto inner = types_.find(outer, member, ignored_);
  if (!inner || inner->offset != u32{0}) return structure;
  const auto definition = definition_of(inner->type);
  const auto found = types_.table().find_structure(outer, ignored_);
  return found && definition == structure ? *found : structure;
}

std::optional<u32> StructureLayout::definition_of(u32 index) const {
  const auto& table = types_.table();
  const auto plain = table.unmodified(index);
  const auto* const record = table.find_record(plain);
  if (!record) return std::nullopt;
  const auto head = pe::read_type_head(*record);
  if (!head || head->family == pe::TypeTable::Family::enumeration) return std::nullopt;
  return table.find_definition(plain, ignored_);
}

std::optional<u32> StructureLayout::pointee(u32 structure, i64 offset) const {
  if (offset < 0) return std::nullopt;
  const auto [place, fresh] = pointees_.try_emplace({structure, offset});
  if (!fresh) return place->second;
  Pointees found;
  collect(structure, static_cast<u64>(offset), 0, found);
  if (!found.several) place->second = found.one;
  return place->second;
}

void StructureLayout::collect(u32 index, u64 offset, u32 depth, Pointees& found) const {
  const auto* const record = types_.table().find_record(index);
  const auto head = record ? pe::read_type_head(*record) : std::nullopt;
  if (!head || depth == deepest || found.several) return;
  pe::FieldWalk walk{types_.table(), head->fields};
  pe::Field field;
  while (walk.next(field)) {
    const bool placed =
        field.kind == pe::Field::Kind::member || field.kind == pe::Field::Kind::base;
    if (placed && field.value <= offset)
      collect_member(field.type, offset - field.value, depth, found);
  }
}

void StructureLayout::collect_member(u32 type, u64 offset, u32 depth, Pointees& found) const {
  const auto& table = types_.table();
  const auto size = pe::size_of(table, type);
  if (!size || offset >= *size) return;
  auto plain = table.unmodified(type);
  const auto* record = table.find_record(plain);
  for (u32 levels = 0; record && levels < deepest; ++levels) {
    const auto array = pe::read_array(*record);
    if (!array) break;
    const auto element = pe::size_of(table, array->element);
    if (!element || *element == 0) return;
    offset %= *element;
    plain = table.unmodified(array->element);
    record = table.find_record(plain);
  }
  if (!record) return;
  if (const auto pointer = pe::read_pointer(*record)) {
    const auto to = offset == 0 ? definition_of(pointer->to) : std::nullopt;
    if (!to) return;
    const auto head = pe::read_type_head(*table.find_record(*to));
    const auto structure = head ? whole(*to, head->name) : *to;
    if (found.one && *found.one != structure) found.several = true;
    found.one = structure;
    return;
  }
  if (const auto definition = definition_of(plain)) collect(*definition, offset, depth + 1, found);
}

// Of arrays their elements', through all dimensions.
u32 StructureLayout::element_of(u32 type) const {
  const auto& table = types_.table();
  auto plain = table.unmodified(type);
  for (u32 levels = 0; levels < deepest; ++levels) {
    const auto* const record = table.find_record(plain);
    const auto array = record ? pe::read_array(*record) : std::nullopt;
    if (!array) break;
    plain = table.unmodified(array->element);
  }
  return plain;
}

// Whether its first bytes are those of the same member in every build: of a simple type, and of a
// structure that documents tell.
bool StructureLayout::begins_alike(u32 type) const {
  const auto* const record = types_.table().find_record(element_of(type));
  const auto head = record ? pe::read_type_head(*record) : std::nullopt;
  return !head || head->family == pe::TypeTable::Family::enumeration ||
         is_documented_structure(head->name);
}

std::optional<StructureLayout::Place> StructureLayout::place_of(std::string_view type,
                                                                std::string_view path) const {
  const auto structure = find(type);
  if (!structure || path.empty()) return std::nullopt;
  const auto member = types_.find(type, path, ignored_);
  if (!member || !member->offset) return std::nullopt;
  const auto* const record = types_.table().find_record(types_.table().unmodified(member->type));
  if (record && pe::read_bit_field(*record)) return std::nullopt;
  if (!begins_alike(member->type)) return std::nullopt;
  return Place{*structure, *member->offset};
}

}  // namespace coldtrace::syscall_map
