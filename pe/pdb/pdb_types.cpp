#include "coldtrace/pdb/pdb_types.hpp"

#include <algorithm>
#include <tuple>

namespace coldtrace::pe {
namespace {

constexpr u32 type_stream = 2;
constexpr u32 most_levels = 32;  // of members of members and of base classes

}  // namespace

// A search for one member. Records refer to earlier ones alone, but for declarations; what a
// damaged file makes of that ends with the budget.
class PdbTypes::Search {
 public:
  Search(const PdbTypes& types, core::Findings& findings)
      : types_{types}, findings_{findings}, steps_left_{types.stream_.view().size()} {}

  std::optional<u32> find_structure(std::string_view name) {
    return choose(types_.by_name_, name, [](const Aggregate&) { return true; });
  }

  std::optional<Field> find_member(u32 type, std::string_view name, u32 level = 0) {
    const auto definition = find_definition(type);
    if (!definition || level == most_levels) return std::nullopt;
    std::vector<Field> bases;
    for (u32 list = definition->fields, next = 0; list != 0; list = next) {
      next = 0;
      const auto* const record = types_.find_record(list);
      if (!record) break;
      FieldList fields{*record};
      Field field;
      while (steps_left_ > 0 && fields.next(field)) {
        --steps_left_;
        if (field.kind == Field::Kind::member && field.name == name) return field;
        if (field.kind == Field::Kind::base) bases.push_back(field);
        if (field.kind == Field::Kind::continued && field.type < list) next = field.type;
      }
      if (!fields.ok())
        findings_.warning("pdb-type-unknown", std::nullopt,
                          "the members of {} from one of kind {:#06x} on cannot be read, {} is "
                          "not among those before",
                          definition->name, fields.kind(), name);
    }
    for (const auto& base : bases)
      if (auto member = find_member(base.type, name, level + 1)) {
        member->offset += base.offset;
        return member;
      }
    return std::nullopt;
  }

  void report_unread(std::string_view name) {
    if (types_.unread_.empty()) return;
    findings_.warning(
        "pdb-type-unknown", std::nullopt,
        "{} is not among the types that can be read; {} type records cannot, the first of kind "
        "{:#06x}",
        name, types_.unread_.size(), kind_of(*types_.find_record(types_.unread_.front())));
  }

 private:
  // The definition of a type, which may be named by a declaration and be const or volatile.
  std::optional<Aggregate> find_definition(u32 index) {
    const auto* record = types_.find_record(index);
    while (record) {
      const auto modified = read_modified_type(*record);
      if (!modified) break;
      record = *modified < index ? types_.find_record(*modified) : nullptr;
      index = *modified;
    }
    if (!record) return std::nullopt;
    const auto aggregate = read_aggregate(*record);
    if (!aggregate && is_unread_aggregate(*record))
      findings_.warning("pdb-type-unknown", std::nullopt,
                        "type {:#x} is a record of kind {:#06x}, which cannot be read", index,
                        kind_of(*record));
    if (!aggregate || !aggregate->forward) return aggregate;
    const auto defined = resolve(*aggregate);
    if (!defined) {
      report_unread(aggregate->name);
      return std::nullopt;
    }
    return read_aggregate(*types_.find_record(*defined));
  }

  // C and C++ may define two types of one name in one PDB, which only the unique name tells apart.
  std::optional<u32> resolve(const Aggregate& declared) {
    const auto any = [](const Aggregate&) { return true; };
    if (!declared.unique_name.empty())
      if (const auto found = choose(types_.by_unique_name_, declared.unique_name, any))
        return found;
    return choose(types_.by_name_, declared.name, [&](const Aggregate& defined) {
      return defined.unique_name.empty() && defined.kind == declared.kind;
    });
  }

  // The first of those with this name that fits.
  template <class Fits>
  std::optional<u32> choose(const std::vector<Definition>& definitions, std::string_view name,
                            Fits&& fits) {
    std::optional<u32> first;
    std::optional<Aggregate> chosen;
    for (auto at = std::lower_bound(definitions.begin(), definitions.end(), name,
                                    [](const Definition&definition, std::string_view wanted) {
                                      return definition.name < wanted;
                                    });
         at != definitions.end() && at->name == name && steps_left_ > 0; ++at, --steps_left_) {
      const auto candidate = read_aggregate(*types_.find_record(at->index));
      if (!candidate || !fits(*candidate)) continue;
      if (!chosen) {
        first = at->index;
        chosen = candidate;
      } else if (candidate->size != chosen->size || candidate->members != chosen->members) {
        findings_.warning("pdb-type-ambiguous", std::nullopt,
                          "several types are called {}; the first one is taken", name);
        break;
      }
    }
    return first;
  }

  const PdbTypes& types_;
  core::Findings& findings_;
  u64 steps_left_;
};

core::Result<PdbTypes> PdbTypes::read(const Pdb& pdb, core::Findings& findings) {
  PdbTypes types;
  types.stream_ = COLDTRACE_TRY(pdb.msf().read(type_stream, "TPI stream"));
  const auto bytes = types.stream_.view();
  const auto at = pdb.msf().offset_of(type_stream, 0).value_or(0);
  core::Reader in{bytes, "TPI stream", at};
  // Older ones have type indexes of 16 bits.
  constexpr u32 vc70 = 19'990'903;
  const auto version = in.read_u32("Version");
  if (version < vc70) in.reject(core::Fault::unsupported, at, "Version", vc70, version);
  const auto header_size = in.read_u32("HeaderSize");
  types.first_index_ = in.read_u32("TypeIndexBegin");
  in.skip(4, "TypeIndexEnd");
  const auto record_bytes = in.read_u32("TypeRecordBytes");
  // A record takes four bytes or more: no index of one exceeds 32 bits.
  if (types.first_index_ > ~u32{0} - record_bytes)
    in.reject(core::Fault::bad_value, at, "TypeIndexBegin", 0x1000, types.first_index_);
  const auto records = core::slice(bytes, header_size, record_bytes);
  if (!records)
    in.reject(core::Fault::out_of_bounds, at, "TypeRecordBytes", bytes.size(), record_bytes);
  COLDTRACE_TRY(in.finish(core::Done{}));
  for (u64 position = 0; position < records->size();) {
    const auto length = core::load<u16>(*records, position);
    const auto record =
        length ? core::slice(*records, position + 2, *length) : std::optional<core::ByteView>{};
    if (!record || record->size() < 2) {
      findings.warning("pdb-types", pdb.msf().offset_of(type_stream, header_size + position),
                       "type record {} cannot be read; those behind it are lost",
                       types.records_.size());
      break;
    }
    types.records_.push_back(*record);
    types.add_definition(types.first_index_ + static_cast<u32>(types.records_.size() - 1));
    position += u64{2} + *length;
  }
  for (auto* const list : {&types.by_name_, &types.by_unique_name_})
    std::sort(list->begin(), list->end(), [](const Definition& a, const Definition& b) {
      return std::tie(a.name, a.index) < std::tie(b.name, b.index);
    });
  return types;
}

void PdbTypes::add_definition(u32 index) {
  const auto& record = records_.back();
  const auto aggregate = read_aggregate(record);
  if (!aggregate) {
    if (is_unread_aggregate(record)) unread_.push_back(index);
    return;
  }
  if (aggregate->forward) return;
  by_name_.push_back({aggregate->name, index});
  if (!aggregate->unique_name.empty()) by_unique_name_.push_back({aggregate->unique_name, index});
}

const core::ByteView* PdbTypes::find_record(u32 index) const {
  if (index < first_index_ || index - first_index_ >= records_.size()) return nullptr;
  return &records_[index - first_index_];
}

std::optional<u32> PdbTypes::offset_of(std::string_view structure, std::string_view path,
                                       core::Findings& findings) const {
  Search search{*this, findings};
  auto type = search.find_structure(structure);
  if (!type) search.report_unread(structure);
  u64 offset = 0;
  for (u32 level = 0; type && level < most_levels; ++level) {
    const auto dot = path.find('.');
    const auto member = search.find_member(*type, path.substr(0, dot));
    if (!member || member->offset > ~u32{0}) return std::nullopt;
    offset += member->offset;
    if (offset > ~u32{0}) return std::nullopt;
    if (dot == path.npos) return static_cast<u32>(offset);
    path.remove_prefix(dot + 1);
    type = member->type;
  }
  return std::nullopt;
}

}  // namespace coldtrace::pe
