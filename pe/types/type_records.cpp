#include "coldtrace/pdb/type_records.hpp"

#include <algorithm>
#include <array>

#include "pe/types/leaf_reader.hpp"

namespace coldtrace::pe {
namespace {

constexpr u16 kind_modifier = 0x1001;
constexpr u16 kind_pointer = 0x1002;
constexpr u16 kind_array_st = 0x1003;
constexpr u16 kind_enum_st = 0x1007;
constexpr u16 kind_procedure = 0x1008;
constexpr u16 kind_member_function = 0x1009;
constexpr u16 kind_argument_list = 0x1201;
constexpr u16 kind_bit_field = 0x1205;
constexpr u16 kind_array = 0x1503;
constexpr u16 kind_enum = 0x1507;

// Kinds that define nothing with members. Source: microsoft-pdb, cvinfo.h, LEAF_ENUM_e.
constexpr std::array<u16, 31> other_kinds = {
    0x000a, 0x000e, 0x0014, 0x1001, 0x1002, 0x1003, 0x1007, 0x1008, 0x1009, 0x100b, 0x100d,
    0x100e, 0x1200, 0x1201, 0x1203, 0x1204, 0x1205, 0x1206, 0x1503, 0x1507, 0x1508, 0x1509,
    0x150a, 0x1514, 0x1515, 0x1516, 0x1517, 0x1518, 0x151b, 0x151c, 0x151d};

struct AggregateForm {
  u16 code;
  AggregateKind kind;
  bool wide;  // 32-bit properties, and the count as a numeric leaf behind
};

constexpr std::array aggregate_forms = {
    AggregateForm{0x1004, AggregateKind::class_, false},
    AggregateForm{0x1005, AggregateKind::structure, false},
    AggregateForm{0x1006, AggregateKind::union_, false},
    AggregateForm{0x1504, AggregateKind::class_, false},
    AggregateForm{0x1505, AggregateKind::structure, false},
    AggregateForm{0x1506, AggregateKind::union_, false},
    AggregateForm{0x1519, AggregateKind::interface_, false},
    AggregateForm{0x1608, AggregateKind::class_, true},
    AggregateForm{0x1609, AggregateKind::structure, true},
    AggregateForm{0x160b, AggregateKind::interface_, true},
};

const AggregateForm* find_form(u16 kind) {
  const auto* const form = std::find_if(aggregate_forms.begin(), aggregate_forms.end(),
                                        [&](const auto& known) { return known.code == kind; });
  return form == aggregate_forms.end() ? nullptr : form;
}

// The size of a pointer of a kind, CV_ptrtype_e.
u8 size_of_pointer_kind(u32 kind) {
  constexpr u32 near_32 = 0x0a;
  constexpr u32 near_64 = 0x0c;
  return kind == near_32 ? 4 : kind == near_64 ? 8 : 0;
}

}  // namespace

u16 kind_of(core::ByteView record) {
  return core::load<u16>(record, 0).value_or(0);
}

bool are_of_one_kind(AggregateKind a, AggregateKind b) {
  const auto plain = [](AggregateKind kind) {
    return kind == AggregateKind::class_ ? AggregateKind::structure : kind;
  };
  return plain(a) == plain(b);
}

std::optional<Aggregate> read_aggregate(core::ByteView record) {
  const auto* const form = find_form(kind_of(record));
  if (!form) return std::nullopt;
  core::Reader in{record, "LF_STRUCTURE", 0};
  in.skip(2, "kind");
  Aggregate found{};
  found.kind = form->kind;
  if (!form->wide) found.members = in.read_u16("count");
  found.properties = form->wide ? in.read_u32("property") : in.read_u16("property");
  found.fields = in.read_u32("field");
  if (form->kind != AggregateKind::union_) in.skip(8, "derived and vshape");
  if (form->wide) found.members = read_number(in);
  found.size = read_number(in);
  found.name = read_name(in, record, form->code);
  if ((found.properties & property_unique) != 0)
    found.unique_name = read_name(in, record, form->code);
  if (!in.ok()) return std::nullopt;
  return found;
}

std::optional<Enumeration> read_enumeration(core::ByteView record) {
  const auto kind = kind_of(record);
  if (kind != kind_enum && kind != kind_enum_st) return std::nullopt;
  core::Reader in{record, "LF_ENUM", 0};
  in.skip(2, "kind");
  Enumeration found{};
  found.members = in.read_u16("count");
  found.properties = in.read_u16("property");
  found.underlying = in.read_u32("utype");
  found.fields = in.read_u32("field");
  found.name = read_name(in, record, kind);
  if ((found.properties & property_unique) != 0) found.unique_name = read_name(in, record, kind);
  if (!in.ok()) return std::nullopt;
  return found;
}

bool is_unread_definition(core::ByteView record) {
  const auto kind = kind_of(record);
  if (find_form(kind)) return !read_aggregate(record);
  if (kind == kind_enum || kind == kind_enum_st) return !read_enumeration(record);
  return !std::binary_search(other_kinds.begin(), other_kinds.end(), kind);
}

std::optional<Modifier> read_modifier(core::ByteView record) {
  if (kind_of(record) != kind_modifier) return std::nullopt;
  core::Reader in{record, "LF_MODIFIER", 0};
  in.skip(2, "kind");
  Modifier found{};
  found.type = in.read_u32("type");
  // Some are short of their flags, which is no reason to lose the type.
  const auto flags = core::load<u16>(record, in.consumed()).value_or(0);
  found.is_const = (flags & 1) != 0;
  found.is_volatile = (flags & 2) != 0;
  found.is_unaligned = (flags & 4) != 0;
  if (!in.ok()) return std::nullopt;
  return found;
}

std::optional<Pointer> read_pointer(core::ByteView record) {
  if (kind_of(record) != kind_pointer) return std::nullopt;
  core::Reader in{record, "LF_POINTER", 0};
  in.skip(2, "kind");
  Pointer found{};
  found.to = in.read_u32("type");
  const auto attributes = in.read_u32("attributes");
  if (!in.ok()) return std::nullopt;
  found.mode = static_cast<Pointer::Mode>(
      std::min<u32>(attributes >> 5 & 7, static_cast<u32>(Pointer::Mode::unknown)));
  const auto size = static_cast<u8>(attributes >> 13 & 0x3f);
  found.size = size != 0 ? size : size_of_pointer_kind(attributes & 0x1f);
  found.is_volatile = (attributes & 0x200) != 0;
  found.is_const = (attributes & 0x400) != 0;
  found.is_unaligned = (attributes & 0x800) != 0;
  found.is_restrict = (attributes & 0x1000) != 0;
  return found;
}

std::optional<Array> read_array(core::ByteView record) {
  const auto kind = kind_of(record);
  if (kind != kind_array && kind != kind_array_st) return std::nullopt;
  core::Reader in{record, "LF_ARRAY", 0};
  in.skip(2, "kind");
  Array found{};
  found.element = in.read_u32("elemtype");
  in.skip(4, "idxtype");
  found.size = read_number(in);
  if (!in.ok()) return std::nullopt;
  return found;
}

std::optional<BitField> read_bit_field(core::ByteView record) {
  if (kind_of(record) != kind_bit_field) return std::nullopt;
  core::Reader in{record, "LF_BITFIELD", 0};
  in.skip(2, "kind");
  BitField found{};
  found.type = in.read_u32("type");
  found.length = in.read_u8("length");
  found.position = in.read_u8("position");
  if (!in.ok()) return std::nullopt;
  return found;
}

std::optional<Function> read_function(core::ByteView record) {
  const auto kind = kind_of(record);
  if (kind != kind_procedure && kind != kind_member_function) return std::nullopt;
  core::Reader in{record, "LF_PROCEDURE", 0};
  in.skip(2, "kind");
  Function found{};
  found.returns = in.read_u32("rvtype");
  if (kind == kind_member_function) {
    found.class_ = in.read_u32("classtype");
    in.skip(4, "thistype");
  }
  found.convention = in.read_u8("calltype");
  in.skip(3, "funcattr and parmcount");
  found.arguments = in.read_u32("arglist");
  if (!in.ok()) return std::nullopt;
  return found;
}

u32 count_arguments(core::ByteView record) {
  if (kind_of(record) != kind_argument_list) return 0;
  const auto stored = static_cast<u32>(record.size() / 4);  // and the head takes six bytes
  return std::min(core::load<u32>(record, 2).value_or(0), stored);
}

std::optional<u32> read_argument(core::ByteView record, u32 number) {
  return core::load<u32>(record, 6 + u64{number} * 4);
}

bool is_unnamed(std::string_view name) {
  const auto at = name.rfind("::");
  const auto last = at == name.npos ? name : name.substr(at + 2);
  if (last.empty() || last == "__unnamed") return true;
  // Not those that end inside the arguments of a template.
  return (last.starts_with("<unnamed-") || last.starts_with("<anonymous-")) &&
         last.find('>') == last.size() - 1;
}

}  // namespace coldtrace::pe
