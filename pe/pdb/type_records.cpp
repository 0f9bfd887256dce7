#include "coldtrace/pdb/type_records.hpp"

#include <algorithm>
#include <array>

#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

constexpr std::size_t longest_name = 0x10000;
constexpr u16 first_kind_with_nul = 0x1500;  // names of older kinds have a length byte
constexpr u16 kind_field_list = 0x1203;
constexpr u16 kind_modifier = 0x1001;
constexpr u16 kind_union = 0x1506;
constexpr u16 first_padding = 0xf0;

constexpr u32 forward_reference = 0x80;
constexpr u32 has_unique_name = 0x200;

// Kinds that define nothing with members. Source: microsoft-pdb, cvinfo.h, LEAF_ENUM_e.
constexpr std::array<u16, 28> other_kinds = {
    0x000a, 0x000e, 0x0014, 0x1001, 0x1002, 0x1003, 0x1007, 0x1008, 0x1009, 0x100b,
    0x100d, 0x100e, 0x1200, 0x1201, 0x1203, 0x1204, 0x1205, 0x1206, 0x1503, 0x1507,
    0x1508, 0x1509, 0x150a, 0x1514, 0x1515, 0x1516, 0x151b, 0x151d};

struct AggregateForm {
  u16 code;
  AggregateKind kind;
  bool wide;  // 32-bit properties, and the count as a numeric leaf behind
};

constexpr std::array aggregate_forms = {
    AggregateForm{0x1004, AggregateKind::structure, false},
    AggregateForm{0x1005, AggregateKind::structure, false},
    AggregateForm{0x1006, AggregateKind::union_, false},
    AggregateForm{0x1504, AggregateKind::structure, false},
    AggregateForm{0x1505, AggregateKind::structure, false},
    AggregateForm{kind_union, AggregateKind::union_, false},
    AggregateForm{0x1519, AggregateKind::interface_, false},
    AggregateForm{0x1608, AggregateKind::structure, true},
    AggregateForm{0x1609, AggregateKind::structure, true},
    AggregateForm{0x160b, AggregateKind::interface_, true},
};

const AggregateForm* find_form(u16 kind) {
  const auto* const form = std::find_if(aggregate_forms.begin(), aggregate_forms.end(),
                                        [&](const auto& known) { return known.code == kind; });
  return form == aggregate_forms.end() ? nullptr : form;
}

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

std::string_view read_name(core::Reader& in, core::ByteView record, u16 kind) {
  if (kind < first_kind_with_nul) return core::to_chars(in.take(in.read_u8("length"), "name"));
  const auto text = core::read_c_string(record.subspan(in.consumed()), longest_name);
  if (!text) {
    in.reject(core::Fault::bad_value, in.offset(), "name", 0, 0);
    return {};
  }
  in.skip(text->size() + 1, "name");
  return *text;
}

// Whether a function's entry has an offset into the virtual table: it introduces it there.
constexpr bool introduces_virtual(u16 attributes) {
  const auto property = attributes >> 2 & 7;
  return property == 4 || property == 6;
}

}  // namespace

u16 kind_of(core::ByteView record) {
  return core::load<u16>(record, 0).value_or(0);
}

std::optional<Aggregate> read_aggregate(core::ByteView record) {
  const auto* const form = find_form(kind_of(record));
  if (!form) return std::nullopt;
  core::Reader in{record, "LF_STRUCTURE", 0};
  in.skip(2, "kind");
  Aggregate found{};
  found.kind = form->kind;
  if (!form->wide) found.members = in.read_u16("count");
  const u32 property = form->wide ? in.read_u32("property") : in.read_u16("property");
  found.forward = (property & forward_reference) != 0;
  found.fields = in.read_u32("field");
  if (form->kind != AggregateKind::union_) in.skip(8, "derived and vshape");
  if (form->wide) found.members = read_number(in);
  found.size = read_number(in);
  found.name = read_name(in, record, form->code);
  if ((property & has_unique_name) != 0) found.unique_name = read_name(in, record, form->code);
  if (!in.ok()) return std::nullopt;
  return found;
}

bool is_unread_aggregate(core::ByteView record) {
  const auto kind = kind_of(record);
  return find_form(kind) ? !read_aggregate(record)
                         : !std::binary_search(other_kinds.begin(), other_kinds.end(), kind);
}

std::optional<u32> read_modified_type(core::ByteView record) {
  if (kind_of(record) != kind_modifier) return std::nullopt;
  return core::load<u32>(record, 2);
}

FieldList::FieldList(core::ByteView record) : record_{record}, in_{record, "LF_FIELDLIST", 0} {
  in_.expect<u16>(kind_field_list, "kind", core::Fault::unsupported);
}

// Up to the next multiple of four; the low half of each byte counts what is left.
void FieldList::skip_padding() {
  while (in_.ok() && in_.remaining() > 0) {
    const auto first = std::to_integer<u8>(record_[in_.consumed()]);
    if (first < first_padding) return;
    in_.skip(std::max(1U, first & 0x0fU), "padding");
  }
}

bool FieldList::next(Field& field) {
  skip_padding();
  if (!in_.ok() || in_.remaining() < 2) return false;
  field = {};
  kind_ = in_.read_u16("kind");
  const auto attributes = in_.read_u16("attributes");
  constexpr u16 kind_enumerate_st = 0x0403;
  constexpr u16 kind_enumerate = 0x1502;
  if (kind_ != kind_enumerate && kind_ != kind_enumerate_st) field.type = in_.read_u32("type");
  switch (kind_) {
    case 0x150d:  // LF_MEMBER
    case 0x1405:
      field.kind = Field::Kind::member;
      field.offset = read_number(in_);
      field.name = read_name(in_, record_, kind_);
      break;
    case 0x1400:  // LF_BCLASS
    case 0x151a:
      field.kind = Field::Kind::base;
      field.offset = read_number(in_);
      break;
    case 0x1404:  // LF_INDEX
      field.kind = Field::Kind::continued;
      break;
    case kind_enumerate_st:
    case kind_enumerate:
      read_number(in_);
      read_name(in_, record_, kind_);
      break;
    case 0x1401:  // LF_VBCLASS, LF_IVBCLASS
    case 0x1402:
      in_.skip(4, "virtual base pointer");
      read_number(in_);
      read_number(in_);
      break;
    case 0x1409:  // LF_VFUNCTAB, LF_FRIENDCLS
    case 0x140a:
      break;
    case 0x140c:  // LF_VFUNCOFF
      in_.skip(4, "offset");
      break;
    case 0x1403:  // LF_FRIENDFCN, LF_STMEMBER, LF_METHOD, LF_NESTTYPE, LF_NESTTYPEEX
    case 0x1406:
    case 0x1407:
    case 0x1408:
    case 0x150c:
    case 0x150e:
    case 0x150f:
    case 0x1510:
    case 0x1512:
      read_name(in_, record_, kind_);
      break;
    case 0x1511:  // LF_ONEMETHOD
    case 0x140b:
      if (introduces_virtual(attributes)) in_.skip(4, "offset in the virtual table");
      read_name(in_, record_, kind_);
      break;
    default:
      in_.reject(core::Fault::unsupported, in_.offset(), "kind", 0, kind_);
  }
  return in_.ok();
}

}  // namespace coldtrace::pe
