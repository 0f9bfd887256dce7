#include "pe/pdb_types.hpp"

#include "core/text.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 type_stream = 2;
constexpr std::size_t longest_name = 4096;
constexpr u32 most_levels = 16;  // of members of members, and of continued field lists

// Kinds of records, LF_...
constexpr u16 kind_index = 0x1404;
constexpr u16 kind_base_class = 0x1400;
constexpr u16 kind_field_list = 0x1203;
constexpr u16 kind_class = 0x1504;
constexpr u16 kind_structure = 0x1505;
constexpr u16 kind_union = 0x1506;
constexpr u16 kind_member = 0x150d;
constexpr u16 kind_static_member = 0x150e;
constexpr u16 kind_enumerate = 0x1502;
constexpr u16 kind_nested_type = 0x1510;
constexpr u16 kind_first_padding = 0xf0;

constexpr u16 forward_reference = 0x80;

// LF_CHAR and the like: a number below 0x8000 stands for itself.
u64 read_number(core::Reader& in) {
  const auto at = in.offset();
  const auto kind = in.read_u16("leaf");
  if (kind < 0x8000) return kind;
  switch (kind) {
    case 0x8000:
      return in.read_u8("LF_CHAR");
    case 0x8001:
    case 0x8002:
      return in.read_u16("LF_USHORT");
    case 0x8003:
    case 0x8004:
      return in.read_u32("LF_ULONG");
    case 0x8009:
    case 0x800a:
      return in.read_u64("LF_UQUADWORD");
    default:
      in.reject(core::Fault::unsupported, at, "leaf", 0x800a, kind);
      return 0;
  }
}

// A NUL-terminated name.
std::string_view read_name(core::Reader& in, core::ByteView record) {
  const auto text = core::read_c_string(record.subspan(in.consumed()), longest_name);
  if (!text) {
    in.reject(core::Fault::bad_value, in.offset(), "name", 0, 0);
    return {};
  }
  in.skip(text->size() + 1, "name");
  return *text;
}

// What classes, structures and unions have in common.
struct Aggregate {
  u32 fields;
  bool forward;
  std::string_view name;
};

std::optional<Aggregate> read_aggregate(core::ByteView record) {
  core::Reader in{record, "LF_STRUCTURE", 0};
  const auto kind = in.read_u16("kind");
  if (kind != kind_class && kind != kind_structure && kind != kind_union) return std::nullopt;
  in.skip(2, "count");
  Aggregate found{};
  found.forward = (in.read_u16("property") & forward_reference) != 0;
  found.fields = in.read_u32("field");
  if (kind != kind_union) in.skip(8, "derived and vshape");
  read_number(in);
  found.name = read_name(in, record);
  if (!in.ok()) return std::nullopt;
  return found;
}

}  // namespace

core::Result<PdbTypes> PdbTypes::read(const Pdb& pdb, core::Findings& findings) {
  PdbTypes types;
  types.stream_ = COLDTRACE_TRY(pdb.msf().read(type_stream, "TPI stream"));
  const auto bytes = types.stream_.view();
  const auto at = pdb.msf().offset_of(type_stream, 0).value_or(0);
  core::Reader in{bytes, "TPI stream", at};
  in.skip(4, "Version");
  const auto header_size = in.read_u32("HeaderSize");
  types.first_index_ = in.read_u32("TypeIndexBegin");
  in.skip(4, "TypeIndexEnd");
  const auto record_bytes = in.read_u32("TypeRecordBytes");
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
    position += u64{2} + *length;
  }
  return types;
}

const core::ByteView* PdbTypes::find_type(u32 index) const {
  if (index < first_index_ || index - first_index_ >= records_.size()) return nullptr;
  return &records_[index - first_index_];
}

std::optional<u32> PdbTypes::find_structure(std::string_view name) const {
  for (std::size_t index = 0; index < records_.size(); ++index)
    if (const auto found = read_aggregate(records_[index]);
        found && !found->forward && found->name == name)
      return first_index_ + static_cast<u32>(index);
  return std::nullopt;
}

std::optional<PdbTypes::Member> PdbTypes::find_member(u32 structure, std::string_view name) const {
  const auto* record = find_type(structure);
  const auto aggregate = record ? read_aggregate(*record) : std::optional<Aggregate>{};
  if (!aggregate) return std::nullopt;
  auto fields = aggregate->fields;
  for (u32 level = 0; level < most_levels; ++level) {
    record = find_type(fields);
    if (!record) return std::nullopt;
    core::Reader in{*record, "LF_FIELDLIST", 0};
    if (in.read_u16("kind") != kind_field_list) return std::nullopt;
    std::optional<u32> continued;
    while (in.ok() && in.remaining() >= 2 && !continued) {
      const auto first = std::to_integer<u8>((*record)[in.consumed()]);
      if (first >= kind_first_padding) {
        in.skip(first == kind_first_padding ? 1U : first & 0x0fU, "padding");
        continue;
      }
      const auto kind = in.read_u16("kind");
      in.skip(2, "attributes");
      const auto type = kind == kind_enumerate ? 0 : in.read_u32("type");
      if (kind == kind_index) {
        continued = type;
      } else if (kind == kind_member || kind == kind_enumerate || kind == kind_base_class) {
        const auto offset = read_number(in);
        if (kind == kind_base_class) continue;
        const auto member = read_name(in, *record);
        if (in.ok() && kind == kind_member && member == name && offset <= ~u32{0})
          return Member{static_cast<u32>(offset), type};
      } else if (kind == kind_static_member || kind == kind_nested_type) {
        read_name(in, *record);
      } else {
        return std::nullopt;  // of C++, and its length is not known here
      }
    }
    if (!continued) return std::nullopt;
    fields = *continued;
  }
  return std::nullopt;
}

std::optional<u32> PdbTypes::offset_of(std::string_view structure, std::string_view path) const {
  auto type = find_structure(structure);
  u64 offset = 0;
  for (u32 level = 0; type && level < most_levels; ++level) {
    const auto dot = path.find('.');
    const auto member = find_member(*type, path.substr(0, dot));
    if (!member) return std::nullopt;
    offset += member->offset;
    if (offset > ~u32{0}) return std::nullopt;
    if (dot == path.npos) return static_cast<u32>(offset);
    path.remove_prefix(dot + 1);
    // A member's type may be a mere declaration of what is defined elsewhere.
    type = member->type;
    if (const auto* record = find_type(*type))
      if (const auto aggregate = read_aggregate(*record); aggregate && aggregate->forward)
        type = find_structure(aggregate->name);
  }
  return std::nullopt;
}

}  // namespace coldtrace::pe
