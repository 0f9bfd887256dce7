#include "coldtrace/pdb/type_words.hpp"

#include "coldtrace/pdb/simple_types.hpp"

namespace coldtrace::pe {

std::string_view keyword_of(core::ByteView record) {
  const auto aggregate = read_aggregate(record);
  if (!aggregate) return "enum";
  switch (aggregate->kind) {
    case AggregateKind::class_:
      return "class";
    case AggregateKind::interface_:
      return "interface";
    case AggregateKind::union_:
      return "union";
    case AggregateKind::structure:
      break;
  }
  return "struct";
}

std::string_view word_of(Field::Kind kind) {
  switch (kind) {
    case Field::Kind::member:
      return "member";
    case Field::Kind::enumerator:
      return "enumerator";
    case Field::Kind::base:
      return "base";
    case Field::Kind::virtual_base:
      return "virtual_base";
    case Field::Kind::static_member:
      return "static";
    case Field::Kind::method:
      return "method";
    case Field::Kind::overloads:
      return "overloads";
    case Field::Kind::nested:
      return "nested";
    case Field::Kind::virtual_table:
      return "virtual_table";
    case Field::Kind::friend_:
      return "friend";
    case Field::Kind::continued:
      break;
  }
  return "";
}

bool is_negative(const TypeTable& table, u32 enumeration, u64 number) {
  const auto head = read_enumeration(*table.find_record(enumeration));
  const auto* const integer = head ? find_simple_type(head->underlying) : nullptr;
  return (!integer || integer->is_signed) && static_cast<i64>(number) < 0;
}

}  // namespace coldtrace::pe
