#include <array>

#include "cli/images/symbol_file.hpp"
#include "cli/pe/types/type_view.hpp"
#include "coldtrace/pdb/table_shape.hpp"
#include "coldtrace/pdb/type_layers.hpp"

namespace coldtrace::cli {
namespace {

using pe::Field;
using pe::TypeLayer;

// CV_call_e. Source: microsoft-pdb, cvinfo.h.
std::optional<std::string_view> convention_name(u8 convention) {
  switch (convention) {
    case pe::unknown_convention:
      return std::nullopt;
    case 0x00:
      return "cdecl";
    case 0x04:
      return "fastcall";
    case 0x07:
      return "stdcall";
    case 0x0b:
      return "thiscall";
    case 0x16:
      return "clrcall";
    case 0x18:
      return "vectorcall";
    default:
      return "other";
  }
}

std::optional<bool> method_of(const pe::Function& function) {
  if (function.convention == pe::unknown_convention) return std::nullopt;
  return function.class_.has_value();
}

std::string_view mode_name(pe::Pointer::Mode mode) {
  constexpr std::array<std::string_view, 6> names = {"pointer", "reference",        "data_member",
                                                     "method",  "rvalue_reference", "unknown"};
  return names[static_cast<std::size_t>(mode)];
}

class Writer {
 public:
  Writer(JsonWriter& json, const TypeView& view, TypeWriting& writing)
      : json_{json}, view_{view}, table_{view.file.table}, writing_{writing} {}

  void write_type(const pe::TypeTable::Definition& type) {
    const auto& record = *table_.find_record(type.index);
    const auto head = pe::read_type_head(record).value_or(pe::TypeHead{});
    const auto enumeration = pe::read_enumeration(record);
    const bool defined = (head.properties & pe::property_forward) == 0;
    json_.begin_object()
        .field("name", MaybeText{type.name})
        .field("kind", keyword_of(record))
        .field("index", type.index)
        .field("unique_name", MaybeText{head.unique_name})
        .field("defined", defined)
        .field("size", defined ? pe::size_of(table_, type.index) : std::nullopt)
        .field("packed", property(head, pe::property_packed))
        .field("nested", property(head, pe::property_nested))
        .field("local", property(head, pe::property_scoped));
    if (enumeration)
      json_.field("underlying", pe::to_text(table_, enumeration->underlying));
    else
      json_.field("underlying", nullptr);
    write_shape(type.index);
    write_source(type.index);
    json_.key("members").begin_array();
    if (defined)
      pe::visit_members(table_, type.index, view_.choice, writing_.budget, writing_.findings,
                        [&](const pe::TypeMember& member) { write_member(type.index, member); });
    json_.end_array().end_object();
  }

 private:
  // Symbol tables have none.
  std::optional<bool> property(const pe::TypeHead& head, u32 bit) const {
    return view_.file.pdb ? std::optional{(head.properties & bit) != 0} : std::nullopt;
  }

  void write_shape(u32 index) {
    json_.key("vtable_shape");
    const auto shape = pe::find_table_shape(table_, index);
    if (!shape || !writing_.budget.take(shape->slots.size() * 10)) {
      json_.value(nullptr);
      return;
    }
    json_.begin_object().field("index", shape->index).key("slots").begin_array();
    for (const auto slot : shape->slots) json_.value(pe::slot_kind_of(slot));
    json_.end_array().end_object();
  }

  void write_source(u32 index) {
    json_.key("source");
    const auto source = view_.ids.find_source(index);
    if (!source || !writing_.budget.take(source->file.size())) {
      json_.value(nullptr);
      return;
    }
    json_.begin_object().field("file", MaybeText{source->file});
    json_.field("line", source->line).end_object();
  }

  void write_member(u32 type, const pe::TypeMember& member) {
    const auto& field = member.field;
    json_.begin_object()
        .field("kind", word_of(field.kind))
        .field("name", MaybeText{member.name})
        .field("level", member.level);
    if (field.kind == Field::Kind::enumerator)
      write_number(type, field.value);
    else
      write_typed(member);
    json_.end_object();
  }

  void write_number(u32 type, u64 number) {
    if (is_negative(table_, type, number))
      json_.field("value", static_cast<i64>(number));
    else
      json_.field("value", number);
  }

  void write_typed(const pe::TypeMember& member) {
    const auto& field = member.field;
    const bool placed = field.kind == Field::Kind::member || field.kind == Field::Kind::base ||
                        field.kind == Field::Kind::virtual_table;
    const auto text = pe::to_text(table_, field.type);
    writing_.budget.take(text.size() * 2 + 128);
    json_.field("offset", placed ? std::optional{member.offset} : std::nullopt)
        .field("size", placed ? pe::size_of(table_, field.type) : std::nullopt)
        .field("type", text)
        .field("type_index", field.type);
    const auto access = pe::access_of(field);
    json_.field("access", access.empty() ? std::nullopt : std::optional{access}).key("method");
    if (field.kind == Field::Kind::method)
      json_.object(
          "kind", pe::method_kind_of(field.attributes), "vtable_offset",
          pe::introduces_virtual(field.attributes) ? std::optional{field.value} : std::nullopt);
    else
      json_.value(nullptr);
    json_.key("layers").begin_array();
    for (const auto& layer : pe::layers_of(table_, field.type)) {
      json_.begin_object();
      write_layer(layer);
      json_.end_object();
    }
    json_.end_array();
  }

  void write_layer(const TypeLayer& layer) {
    switch (layer.kind) {
      case TypeLayer::Kind::modifier:
        json_.field("kind", "modifier")
            .field("const", layer.modifier.is_const)
            .field("volatile", layer.modifier.is_volatile)
            .field("unaligned", layer.modifier.is_unaligned);
        return;
      case TypeLayer::Kind::pointer:
        json_.field("kind", "pointer")
            .field("mode", mode_name(layer.pointer.mode))
            .field("size", layer.size)
            .field("const", layer.pointer.is_const)
            .field("volatile", layer.pointer.is_volatile);
        return;
      case TypeLayer::Kind::array:
        json_.field("kind", "array").field("count", layer.count).field("size", layer.size);
        return;
      case TypeLayer::Kind::bit_field:
        json_.field("kind", "bit_field")
            .field("position", layer.bit_field.position)
            .field("length", layer.bit_field.length);
        return;
      case TypeLayer::Kind::function:
        json_.field("kind", "function")
            .field("convention", convention_name(layer.function.convention))
            .field("method", method_of(layer.function));
        return;
      case TypeLayer::Kind::named:
        write_named(layer);
        return;
      case TypeLayer::Kind::simple:
        json_.field("kind", "simple")
            .field("name", layer.simple                       ? layer.simple->debugger
                           : layer.index == pe::nullptr_index ? std::string_view{"nullptr_t"}
                                                              : std::string_view{"unknown"})
            .field("size", layer.size);
        return;
      case TypeLayer::Kind::unknown:
        json_.field("kind", "unknown");
        return;
    }
  }

  void write_named(const TypeLayer& layer) {
    writing_.budget.take(layer.named->name.size());
    json_.field("kind", keyword_of(*table_.find_record(layer.index)));
    json_.field("name", MaybeText{layer.named->name});
    json_.field("index", layer.index)
        .field("defined", (layer.named->properties & pe::property_forward) == 0)
        .field("size", layer.size);
  }

  JsonWriter& json_;
  const TypeView& view_;
  const pe::TypeTable& table_;
  TypeWriting& writing_;
};

}  // namespace

void write_type_file(JsonWriter& json, const pe::TypeFile& file) {
  const auto& identity = file.identity;
  json.begin_object()
      .field("path", FileText{file.path})
      .field("format", std::string_view{file.pdb ? "pdb" : "isf"})
      .field("guid", guid_text(identity))
      .field("age", identity.age);
  if (!identity.guid) json.field("signature", identity.signature);
  json.field("info_age", file.pdb ? std::optional{file.pdb->info().age} : std::nullopt)
      .key("machine");
  identity.machine ? json.value(pe::to_string(static_cast<pe::Machine>(*identity.machine)))
                   : json.value(nullptr);
  json.field("pointer_size", file.table.pointer_size() != 0
                                 ? std::optional{file.table.pointer_size()}
                                 : std::nullopt)
      .field("version", file.pdb ? std::optional{file.table.version()} : std::nullopt)
      .field("first_index", file.table.first_index())
      .field("records", file.table.count())
      .end_object();
}

void write_types_json(JsonWriter& json, const TypeView& view, TypeWriting& writing) {
  json.begin_array();
  Writer writer{json, view, writing};
  for (const auto& type : view.types) writer.write_type(type);
  json.end_array();
}

}  // namespace coldtrace::cli
