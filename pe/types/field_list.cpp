#include "coldtrace/pdb/field_list.hpp"

#include <algorithm>
#include <array>

#include "pe/types/leaf_reader.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 property_of(u16 attributes) {
  return attributes >> 2 & 7U;
}

}  // namespace

bool introduces_virtual(u16 attributes) {
  const auto property = property_of(attributes);
  return property == 4 || property == 6;
}

std::string_view method_kind_of(u16 attributes) {
  constexpr std::array<std::string_view, 8> names = {"plain",
                                                     "virtual",
                                                     "static",
                                                     "friend",
                                                     "introducing_virtual",
                                                     "pure_virtual",
                                                     "pure_introducing_virtual",
                                                     "unknown"};
  return names[property_of(attributes)];
}

std::string_view access_of(const Field& field) {
  constexpr std::array<std::string_view, 4> names = {"", "private", "protected", "public"};
  return names[field.attributes & 3U];
}

FieldList::FieldList(core::BorrowedBytes record)
    : record_{record.get()}, in_{record, "LF_FIELDLIST", 0} {
  constexpr u16 kind_field_list = 0x1203;
  in_.expect<u16>(kind_field_list, "kind", core::Fault::unsupported);
}

// Up to the next multiple of four; the low half of each byte counts what is left.
void FieldList::skip_padding() {
  constexpr u16 first_padding = 0xf0;
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
  field.attributes = in_.read_u16("attributes");
  read_entry(field);
  return in_.ok();
}

void FieldList::read_entry(Field& field) {
  constexpr u16 kind_enumerate_st = 0x0403;
  constexpr u16 kind_enumerate = 0x1502;
  if (kind_ != kind_enumerate && kind_ != kind_enumerate_st) field.type = in_.read_u32("type");
  const auto named = [&](Field::Kind kind) {
    field.kind = kind;
    field.name = read_name(in_, record_, kind_);
  };
  switch (kind_) {
    case 0x150d:  // LF_MEMBER
    case 0x1405:
      field.value = read_number(in_);
      return named(Field::Kind::member);
    case kind_enumerate_st:
    case kind_enumerate:
      field.value = read_number(in_);
      return named(Field::Kind::enumerator);
    case 0x1400:  // LF_BCLASS, LF_BINTERFACE
    case 0x151a:
      field.kind = Field::Kind::base;
      field.value = read_number(in_);
      return;
    case 0x1401:  // LF_VBCLASS, LF_IVBCLASS
    case 0x1402:
      field.kind = Field::Kind::virtual_base;
      in_.skip(4, "virtual base pointer");
      field.value = read_number(in_);
      read_number(in_);
      return;
    case 0x1404:  // LF_INDEX
      field.kind = Field::Kind::continued;
      return;
    case 0x1409:  // LF_VFUNCTAB
      field.kind = Field::Kind::virtual_table;
      return;
    case 0x140c:  // LF_VFUNCOFF
      field.kind = Field::Kind::virtual_table;
      field.value = in_.read_u32("offset");
      return;
    case 0x140a:  // LF_FRIENDCLS
      field.kind = Field::Kind::friend_;
      return;
    case 0x1403:  // LF_FRIENDFCN
    case 0x150c:
      return named(Field::Kind::friend_);
    case 0x1406:  // LF_STMEMBER
    case 0x150e:
      return named(Field::Kind::static_member);
    case 0x1407:  // LF_METHOD
    case 0x150f:
      field.attributes = 0;  // it was their number; each has its own in the method list
      return named(Field::Kind::overloads);
    case 0x1408:  // LF_NESTTYPE, LF_NESTTYPEEX
    case 0x1510:
    case 0x1512:
      return named(Field::Kind::nested);
    case 0x1511:  // LF_ONEMETHOD
    case 0x140b:
      if (introduces_virtual(field.attributes)) field.value = in_.read_u32("vbaseoff");
      return named(Field::Kind::method);
    default:
      in_.reject(core::Fault::unsupported, in_.offset(), "kind", core::not_one_number, kind_);
  }
}

}  // namespace coldtrace::pe
