#include <algorithm>

#include "cli/images/symbol_file.hpp"
#include "cli/output/text.hpp"
#include "cli/pe/types/type_view.hpp"
#include "coldtrace/pdb/type_layers.hpp"

namespace coldtrace::cli {

using pe::Field;

namespace {

std::string number_text(const pe::TypeTable& table, u32 enumeration, u64 number) {
  return is_negative(table, enumeration, number) ? fmt::format("{}", static_cast<i64>(number))
                                                 : fmt::format("{}", number);
}

// Of a record that counts none, how many its list has.
u64 elements_of(const pe::TypeTable& table, u64 counted, u32 list, pe::TypeBudget& budget) {
  if (counted != 0) return counted;
  u64 count = 0;
  pe::FieldWalk fields{table, list};
  for (Field field; fields.next(field) && budget.take(field.name.size() + 32);) ++count;
  return count;
}

void write_head(Output& output, const pe::TypeFile& file, const pe::TypeTable::Definition& type,
                pe::TypeBudget& budget) {
  const auto& record = *file.table.find_record(type.index);
  const auto keyword = keyword_of(record);
  const auto name = type.name.empty() ? "<unnamed>" : printable(type.name);
  const auto head = pe::read_type_head(record).value_or(pe::TypeHead{});
  if ((head.properties & pe::property_forward) != 0)
    return print(output, "{} {}, only declared\n", keyword, name);
  if (const auto aggregate = pe::read_aggregate(record))
    return print(output, "{} {}, {}, {:#x} bytes\n", keyword, name,
                 counted(elements_of(file.table, aggregate->members, head.fields, budget),
                         "element", "elements"),
                 aggregate->size);
  const auto enumeration = *pe::read_enumeration(record);
  print(output, "enum {}, {}, of {}\n", name,
        counted(elements_of(file.table, enumeration.members, head.fields, budget), "element",
                "elements"),
        printable(pe::to_text(file.table, enumeration.underlying)));
}

// ", public static"
std::string method_text(const Field& field) {
  const auto access = pe::access_of(field);
  std::string kind{pe::method_kind_of(field.attributes)};
  std::replace(kind.begin(), kind.end(), '_', ' ');
  if (kind == "plain") kind.clear();
  const auto* const between = access.empty() || kind.empty() ? "" : " ";
  return access.empty() && kind.empty() ? "" : fmt::format(", {}{}{}", access, between, kind);
}

void write_source(Output& output, const TypeView& view, u32 index) {
  if (!view.sources) return;
  if (const auto source = view.ids.find_source(index))
    print(output, "   // {}:{}\n", printable(source->file), source->line);
}

void write_member(Output& output, const pe::TypeTable& table, u32 type,
                  const pe::TypeMember& member, std::string_view text) {
  const auto& field = member.field;
  const auto name = printable(member.name);
  const std::string indent(3 + member.level * 3, ' ');
  switch (field.kind) {
    case Field::Kind::member:
      return print(output, "{}+{:#05x} {:<16} : {}\n", indent, member.offset, name, text);
    case Field::Kind::base:
      return print(output, "{}+{:#05x} {:<16} : {}\n", indent, member.offset, "(base)", text);
    case Field::Kind::virtual_table:
      return print(output, "{}+{:#05x} {:<16} : {}\n", indent, member.offset, "(vtable)", text);
    case Field::Kind::enumerator:
      return print(output, "{}{} = {}\n", indent, name, number_text(table, type, field.value));
    case Field::Kind::method:
      return print(output, "{}({}) {} : {}{}\n", indent, word_of(field.kind), name, text,
                   method_text(field));
    default:
      return print(output, "{}({}) {}{}{}\n", indent, word_of(field.kind), name,
                   name.empty() ? "" : " : ", text);
  }
}

void write_list(Output& output, const TypeView& view, pe::TypeBudget& budget) {
  print(output, "{:<8}  {:<9}  {:>10}  {:>8}  {}\n", "index", "kind", "size", "elements", "name");
  for (const auto& type : view.types) {
    const auto& record = *view.file.table.find_record(type.index);
    const auto aggregate = pe::read_aggregate(record);
    const auto head = pe::read_type_head(record).value_or(pe::TypeHead{});
    const bool defined = (head.properties & pe::property_forward) == 0;
    const auto elements = [&] {
      return elements_of(view.file.table,
                         aggregate ? aggregate->members : pe::read_enumeration(record)->members,
                         head.fields, budget);
    };
    const auto size = defined ? pe::size_of(view.file.table, type.index) : std::nullopt;
    print(output, "{:<#8x}  {:<9}  {:>10}  {:>8}  {}\n", type.index, keyword_of(record),
          size ? fmt::format("{:#x}", *size) : "-", defined ? fmt::format("{}", elements()) : "-",
          type.name.empty() ? "<unnamed>" : printable(type.name));
  }
}

}  // namespace

void write_types_text(Output& output, const TypeView& view, TypeWriting& writing) {
  const auto& file = view.file;
  print(output, "{}: {}, {}\n", printable(file.path), build_text(file.identity),
        counted(file.table.count(), "type record", "type records"));
  if (view.lists) return write_list(output, view, writing.budget);
  for (const auto& type : view.types) {
    output.write("\n");
    write_head(output, file, type, writing.budget);
    write_source(output, view, type.index);
    pe::visit_members(file.table, type.index, view.choice, writing.budget, writing.findings,
                      [&](const pe::TypeMember& member) {
                        const auto text = printable(pe::to_text(file.table, member.field.type));
                        writing.budget.take(text.size());
                        write_member(output, file.table, type.index, member, text);
                      });
  }
}

}  // namespace coldtrace::cli
