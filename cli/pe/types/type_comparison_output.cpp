#include "cli/pe/types/type_comparison_output.hpp"

#include "cli/images/symbol_file.hpp"
#include "cli/output/text.hpp"
#include "cli/pe/types/type_view.hpp"

namespace coldtrace::cli {
namespace {

using pe::ComparedMember;
using pe::MemberChange;
using pe::TypeChange;

std::string place_of(const ComparedMember& member) {
  if (!member.offset) return "-";
  if (!member.bit_position) return fmt::format("+{:#05x}", *member.offset);
  return fmt::format("+{:#05x} Pos {}, {}", *member.offset, *member.bit_position,
                     counted(*member.bit_length, "Bit", "Bits"));
}

std::string value_of(const ComparedMember& member) {
  return member.value ? fmt::format("{:#x}", *member.value) : printable(member.type);
}

std::string name_of(const MemberChange& change) {
  return change.name.empty() ? fmt::format("({})", word_of(change.kind)) : printable(change.name);
}

void write_member(Output& output, const MemberChange& change) {
  const auto name = name_of(change);
  if (!change.before)
    return print(output, "   added    {:<24} {} : {}\n", name, place_of(*change.after),
                 value_of(*change.after));
  if (!change.after)
    return print(output, "   removed  {:<24} {} : {}\n", name, place_of(*change.before),
                 value_of(*change.before));
  if (change.moved())
    print(output, "   moved    {:<24} {} -> {}\n", name, place_of(*change.before),
          place_of(*change.after));
  if (change.resized() && change.before->bit_length == change.after->bit_length)
    print(output, "   resized  {:<24} {} -> {} bytes\n", name, cell(change.before->size),
          cell(change.after->size));
  else if (change.resized() && !change.moved())
    print(output, "   resized  {:<24} {} -> {}\n", name, place_of(*change.before),
          place_of(*change.after));
  if (change.retyped())
    print(output, "   retyped  {:<24} {} -> {}\n", name, value_of(*change.before),
          value_of(*change.after));
}

std::string_view word_of(const TypeChange& change) {
  return !change.before ? "added" : !change.after ? "removed" : "changed";
}

void write_side(JsonWriter& json, const std::optional<ComparedMember>& member) {
  if (!member) {
    json.value(nullptr);
    return;
  }
  json.object("offset", member->offset, "size", member->size, "bit_position", member->bit_position,
              "bit_length", member->bit_length, "value", member->value, "type",
              MaybeText{member->type});
}

}  // namespace

void write_type_comparison_text(Output& output, const ComparedFiles& files) {
  const auto& [before, after, compared] = files;
  const auto& comparison = compared.comparison;
  for (const auto* const file : {&before, &after})
    print(output, "{}: {}, {}\n", printable(file->path), build_text(file->identity),
          counted(file->table.count(), "type record", "type records"));
  print(output, "{} the same, {} changed, {} added, {} removed\n",
        counted(comparison.same, "type is", "types are"), comparison.changed, comparison.added,
        comparison.removed);
  for (const auto& change : comparison.changes) {
    const auto& table = compared.table_of(change.after ? after : before);
    const auto keyword =
        keyword_of(*table.find_record(change.after ? *change.after : *change.before));
    print(output, "\n{} {} {}", word_of(change), keyword, printable(change.name));
    if (change.size_before && change.size_after && change.size_before != change.size_after)
      print(output, ", {:#x} -> {:#x} bytes", *change.size_before, *change.size_after);
    else if (const auto size = change.size_after ? change.size_after : change.size_before)
      print(output, ", {:#x} bytes", *size);
    output.write("\n");
    for (const auto& member : change.members) write_member(output, member);
  }
}

void write_type_comparison_json(JsonWriter& json, const ComparedFiles& files) {
  const auto& [before, after, compared] = files;
  const auto& comparison = compared.comparison;
  json.key("before");
  write_type_file(json, before);
  json.key("after");
  write_type_file(json, after);
  json.key("counts").object("same", comparison.same, "changed", comparison.changed, "added",
                            comparison.added, "removed", comparison.removed);
  json.key("types").begin_array();
  for (const auto& change : comparison.changes) {
    const auto& table = compared.table_of(change.after ? after : before);
    json.begin_object()
        .field("name", MaybeText{change.name})
        .field("kind",
               keyword_of(*table.find_record(change.after ? *change.after : *change.before)))
        .field("change", word_of(change))
        .field("size_before", change.size_before)
        .field("size_after", change.size_after)
        .key("members")
        .begin_array();
    for (const auto& member : change.members) {
      json.begin_object().field("name", MaybeText{member.name}).field("kind", word_of(member.kind));
      json.field("moved", member.moved())
          .field("resized", member.resized())
          .field("retyped", member.retyped())
          .key("before");
      write_side(json, member.before);
      json.key("after");
      write_side(json, member.after);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace coldtrace::cli
