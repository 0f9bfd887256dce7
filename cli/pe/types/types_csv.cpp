#include "cli/output/text.hpp"
#include "cli/pe/types/type_view.hpp"
#include "coldtrace/pdb/type_layers.hpp"

namespace coldtrace::cli {
namespace {

using pe::Field;

bool has_offset(Field::Kind kind) {
  return kind == Field::Kind::member || kind == Field::Kind::base ||
         kind == Field::Kind::virtual_table;
}

std::string value_cell(const pe::TypeTable& table, u32 type, const Field& field) {
  if (field.kind != Field::Kind::enumerator) return {};
  return is_negative(table, type, field.value) ? fmt::format("{}", static_cast<i64>(field.value))
                                               : fmt::format("{}", field.value);
}

void write_row(Output& output, const TypeView& view, const pe::TypeTable::Definition& type,
               const pe::TypeMember& member, TypeWriting& writing) {
  const auto& table = view.file.table;
  const auto& field = member.field;
  const bool typed = field.kind != Field::Kind::enumerator;
  const auto text = typed ? pe::to_text(table, field.type) : std::string{};
  writing.budget.take(text.size() + type.name.size() + view.file.path.size());
  const auto* const record = table.find_record(field.type);
  const auto bits = typed && record ? pe::read_bit_field(*record) : std::nullopt;
  print(output, "{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(view.file.path),
        csv_field(type.name), type.index, word_of(field.kind), member.level, csv_field(member.name),
        has_offset(field.kind) ? fmt::format("{}", member.offset) : std::string{},
        has_offset(field.kind) ? cell(pe::size_of(table, field.type)) : std::string{},
        bits ? fmt::format("{},{}", bits->position, bits->length) : std::string{","},
        value_cell(table, type.index, field), csv_field(text));
}

}  // namespace

void write_types_csv(Output& output, const TypeView& view, TypeWriting& writing) {
  output.write(
      "path,type,type_index,kind,level,name,offset,size,bit_position,bit_length,value,member_type"
      "\n");
  for (const auto& type : view.types)
    pe::visit_members(
        view.file.table, type.index, view.choice, writing.budget, writing.findings,
        [&](const pe::TypeMember& member) { write_row(output, view, type, member, writing); });
}

}  // namespace coldtrace::cli
