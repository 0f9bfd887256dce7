#include "coldtrace/pdb/type_table.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/simple_types.hpp"
#include "pe/types/record_stream.hpp"
#include "pe/types/widened_records.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 type_stream = 2;
constexpr u32 most_levels = 64;             // of modifiers of modifiers
constexpr std::size_t most_namesakes = 64;  // that are compared with the first

TypeTable::Family family_of(AggregateKind kind) {
  return kind == AggregateKind::union_ ? TypeTable::Family::union_ : TypeTable::Family::structure;
}

bool comes_first(const TypeTable::Definition& a, const TypeTable::Definition& b) {
  return std::tie(a.name, a.index) < std::tie(b.name, b.index);
}

// What must agree for two definitions of one name to be no contradiction.
std::pair<u64, u64> extent_of(core::ByteView record) {
  if (const auto found = read_aggregate(record)) return {found->members, found->size};
  const auto found = read_enumeration(record);
  return {found ? found->members : 0, 0};
}

// Those by name that have no unique name, by family before index: names are sorted once.
std::vector<TypeTable::Definition> find_plain(std::span<const TypeTable::Definition> by_name,
                                              std::span<const TypeTable::Definition> by_unique_name,
                                              u32 first_index, std::size_t records) {
  using Definition = TypeTable::Definition;
  std::vector<bool> has_unique_name(records);
  for (const auto& definition : by_unique_name)
    has_unique_name[definition.index - first_index] = true;
  std::vector<Definition> plain;
  for (const auto& definition : by_name)
    if (!has_unique_name[definition.index - first_index]) plain.push_back(definition);
  for (auto first = plain.begin(); first != plain.end();) {
    const auto last = std::find_if(first, plain.end(), [&](const Definition& definition) {
      return definition.name != first->name;
    });
    if (last - first > 1)
      std::stable_sort(first, last, [](const Definition& a, const Definition& b) {
        return a.family < b.family;
      });
    first = last;
  }
  return plain;
}

}  // namespace

std::optional<TypeHead> read_type_head(core::ByteView record) {
  if (const auto found = read_aggregate(record))
    return TypeHead{family_of(found->kind), found->properties, found->fields, found->name,
                    found->unique_name};
  if (const auto found = read_enumeration(record))
    return TypeHead{TypeTable::Family::enumeration, found->properties, found->fields, found->name,
                    found->unique_name};
  return std::nullopt;
}

core::Result<TypeTable> TypeTable::read(const Pdb& pdb, core::Findings& findings) {
  auto stream = COLDTRACE_TRY(RecordStream::read(pdb.msf(), type_stream, "TPI stream"));
  TypeTable table;
  table.stream_ = std::move(stream.bytes);
  table.version_ = stream.version;
  table.first_index_ = stream.first_index;
  if (stream.is_narrow())
    table.read_narrow_records(stream.records, stream.position, pdb, findings);
  else
    table.read_records(stream.records, stream.position, &pdb, findings);
  table.find_pointer_size(pdb);
  return table;
}

TypeTable TypeTable::of(core::BorrowedBytes given, u8 pointer_size, core::Findings& findings) {
  const auto records = given.get();
  TypeTable table;
  table.stream_ = StreamBytes{records};
  table.first_index_ = first_record_index;
  table.pointer_size_ = pointer_size;
  table.read_records(records, 0, nullptr, findings);
  return table;
}

void TypeTable::read_records(core::ByteView records, u64 at, const Pdb* pdb,
                             core::Findings& findings) {
  for (u64 position = 0; position < records.size();) {
    const auto record = pe::find_record(records, position);
    if (!record) {
      report_lost(pdb, at + position, findings);
      break;
    }
    add_record(*record);
    position += sizeof(u16) + record->size();
  }
  sort_names();
}

void TypeTable::read_narrow_records(core::ByteView records, u64 at, const Pdb& pdb,
                                    core::Findings& findings) {
  auto widened = widen_records(records);
  stream_ = StreamBytes{std::move(widened.bytes)};
  u64 start = 0;
  for (const u64 end : widened.ends) {
    add_record(stream_.view().subspan(start, end - start));
    start = end;
  }
  if (widened.read < records.size()) report_lost(&pdb, at + widened.read, findings);
  sort_names();
}

void TypeTable::add_record(core::ByteView record) {
  records_.push_back(record);
  add_definition(first_index_ + static_cast<u32>(records_.size() - 1));
}

void TypeTable::report_lost(const Pdb* pdb, u64 position, core::Findings& findings) const {
  findings.warning("pdb-types", pdb ? pdb->msf().offset_of(type_stream, position) : std::nullopt,
                   "type record {} cannot be read; those after it are lost", records_.size());
}

void TypeTable::sort_names() {
  for (auto* const list : {&by_name_, &by_unique_name_})
    std::sort(list->begin(), list->end(), comes_first);
  plain_ = find_plain(by_name_, by_unique_name_, first_index_, records_.size());
}

void TypeTable::add_definition(u32 index) {
  const auto& record = records_.back();
  const auto head = read_type_head(record);
  if (!head) {
    if (is_unread_definition(record)) unread_.push_back(index);
    return;
  }
  const Definition found{head->name, index, head->family};
  if ((head->properties & property_forward) != 0) {
    declarations_.push_back(found);
    return;
  }
  by_name_.push_back(found);
  if (!head->unique_name.empty())
    by_unique_name_.push_back({head->unique_name, index, head->family});
}

// The linker's word for it, else that of the first pointer: old linkers name no machine.
void TypeTable::find_pointer_size(const Pdb& pdb) {
  switch (static_cast<Machine>(pdb.dbi() ? pdb.dbi()->machine : 0)) {
    case Machine::i386:
    case Machine::arm:
    case Machine::armnt:
      pointer_size_ = 4;
      return;
    case Machine::amd64:
    case Machine::arm64:
      pointer_size_ = 8;
      return;
    default:
      break;
  }
  for (const auto& record : records_)
    if (const auto pointer = read_pointer(record);
        pointer && (pointer->size == 4 || pointer->size == 8)) {
      pointer_size_ = pointer->size;
      return;
    }
}

const core::ByteView* TypeTable::find_record(u32 index) const {
  if (index < first_index_ || index - first_index_ >= records_.size()) return nullptr;
  return &records_[index - first_index_];
}

std::vector<TypeTable::Definition> TypeTable::undefined(
    const std::function<bool(std::string_view)>& wanted) const {
  Definitions declarations;
  std::copy_if(declarations_.begin(), declarations_.end(), std::back_inserter(declarations),
               [&](const Definition& declared) { return wanted(declared.name); });
  if (declarations.empty()) return {};
  std::sort(declarations.begin(), declarations.end(), comes_first);
  std::vector<Definition> found;
  core::Findings ignored;
  auto plain = std::lower_bound(  // both are by name
      plain_.begin(), plain_.end(), declarations.front().name,
      [](const Definition& definition, std::string_view name) { return definition.name < name; });
  for (const auto& declared : declarations) {
    if (!found.empty() && found.back().name == declared.name) continue;
    while (plain != plain_.end() && plain->name < declared.name) ++plain;
    const bool defined =
        plain != plain_.end() && plain->name == declared.name && plain->family == declared.family;
    if (!defined && !find_definition(declared.index, ignored)) found.push_back(declared);
  }
  return found;
}

std::optional<u32> TypeTable::find_definition(u32 index, core::Findings& findings) const {
  const auto* const record = find_record(index);
  const auto head = record ? read_type_head(*record) : std::nullopt;
  if (!head) return std::nullopt;
  if ((head->properties & property_forward) == 0) return index;
  if (!head->unique_name.empty())
    if (const auto found = choose(namesakes(by_unique_name_, head->unique_name), findings))
      return found;
  const auto [first, last] =
      std::equal_range(plain_.begin(), plain_.end(), Definition{head->name, 0, head->family},
                       [](const Definition& a, const Definition& b) {
                         return std::tie(a.name, a.family) < std::tie(b.name, b.family);
                       });
  return choose({first, last}, findings);
}

std::optional<u32> TypeTable::find_structure(std::string_view name,
                                             core::Findings& findings) const {
  return choose(namesakes(by_name_, name), findings, [](const Definition& definition) {
    return definition.family != Family::enumeration;
  });
}

std::optional<u32> TypeTable::find_enumeration(std::string_view name,
                                               core::Findings& findings) const {
  return choose(namesakes(by_name_, name), findings, [](const Definition& definition) {
    return definition.family == Family::enumeration;
  });
}

std::span<const TypeTable::Definition> TypeTable::namesakes(const Definitions& definitions,
                                                            std::string_view name) {
  const auto [first, last] = std::equal_range(
      definitions.begin(), definitions.end(), Definition{name, 0, Family::structure},
      [](const Definition& a, const Definition& b) { return a.name < b.name; });
  return {first, last};
}

// The first of those with one name that fits.
std::optional<u32> TypeTable::choose(std::span<const Definition> namesakes,
                                     core::Findings& findings,
                                     bool (*fits)(const Definition&)) const {
  std::optional<u32> chosen;
  for (const auto& candidate : namesakes.first(std::min(namesakes.size(), most_namesakes))) {
    if (fits && !fits(candidate)) continue;
    if (!chosen) {
      chosen = candidate.index;
    } else if (extent_of(*find_record(candidate.index)) != extent_of(*find_record(*chosen))) {
      findings.warning("pdb-type-ambiguous", std::nullopt,
                       "several types are called {}; the first one is used", candidate.name);
      break;
    }
  }
  return chosen;
}

u32 TypeTable::unmodified(u32 index) const {
  for (u32 level = 0; level < most_levels; ++level) {
    const auto* const record = find_record(index);
    const auto modifier = record ? read_modifier(*record) : std::nullopt;
    if (!modifier || modifier->type >= index) break;
    index = modifier->type;
  }
  return index;
}

void TypeTable::report_unread(std::string_view name, core::Findings& findings) const {
  if (unread_.empty()) return;
  findings.warning(
      "pdb-type-unknown", std::nullopt,
      "{} is not among the types that can be read; {} cannot, the first of kind {:#06x}", name,
      core::counted(unread_.size(), "type record", "type records"),
      kind_of(*find_record(unread_.front())));
}

void TypeTable::report_unread(core::Findings& findings) const {
  if (unread_.empty()) return;
  findings.warning("pdb-type-unknown", std::nullopt,
                   "{} cannot be read, the first, {:#x}, of kind {:#06x}: what {} is missing",
                   core::counted(unread_.size(), "type record", "type records"), unread_.front(),
                   kind_of(*find_record(unread_.front())),
                   unread_.size() == 1 ? "it defines" : "they define");
}

void FieldWalk::open(u32 list) {
  list_ = list;
  fields_.reset();
  if (list == 0) return;
  if (const auto* const record = table_.find_record(list))
    fields_.emplace(*record);
  else
    lost_ = true;
}

bool FieldWalk::next(Field& field) {
  while (fields_) {
    if (!fields_->next(field)) {
      lost_ |= !fields_->ok();
      return false;
    }
    if (field.kind != Field::Kind::continued) return true;
    if (field.type >= list_) {  // would go round
      lost_ = true;
      return false;
    }
    open(field.type);
  }
  return false;
}

}  // namespace coldtrace::pe
