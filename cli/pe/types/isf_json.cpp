#include "cli/pe/types/isf_json.hpp"

#include <map>
#include <set>

#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/pe/types/type_view.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/isf_fields.hpp"
#include "coldtrace/pdb/isf_names.hpp"
#include "coldtrace/pdb/isf_table.hpp"
#include "coldtrace/pdb/type_layers.hpp"
#include "coldtrace/pdb/type_members.hpp"

namespace coldtrace::cli {
namespace {

using pe::Field;
using pe::TypeLayer;

class Writer {
 public:
  Writer(JsonWriter& json, const pe::TypeTable& table, core::Findings& findings)
      : json_{json}, table_{table}, findings_{findings}, names_{table}, budget_{table} {}

  void write_user_types() {
    json_.key("user_types").begin_object();
    for (const auto& type : sorted(false)) write_user_type(type.first, type.second);
    json_.end_object();
    if (names_.renamed() > 0)
      findings_.info("isf-type-twice", std::nullopt, "{} record numbers",
                     counted(names_.renamed(),
                             "type shares its name with another one; the table appends their",
                             "types share their name with another one; the table appends their"));
  }

  void write_enumerations() {
    json_.key("enums").begin_object();
    for (const auto& type : sorted(true)) write_enumeration(type.first, type.second);
    json_.end_object();
  }

  // Of all that was written before.
  void write_bases() {
    json_.key("base_types").begin_object();
    for (const auto& [name, base] : bases_)
      json_.key(std::string_view{name})
          .object("size", base.size, "signed", base.is_signed, "kind", base.kind, "endian",
                  std::string_view{"little"});
    json_.end_object();
  }

 private:
  std::map<std::string, u32> sorted(bool enumerations) const {
    std::map<std::string, u32> types;
    for (const auto& type : table_.definitions())
      if ((type.family == pe::TypeTable::Family::enumeration) == enumerations)
        types.emplace(names_.name_of(type.index), type.index);
    return types;
  }

  void write_user_type(const std::string& name, u32 index) {
    const auto aggregate = *pe::read_aggregate(*table_.find_record(index));
    const bool is_union = aggregate.kind == pe::AggregateKind::union_;
    json_.key(std::string_view{name})
        .begin_object()
        .field("kind", std::string_view{is_union ? "union" : "struct"})
        .field("size", aggregate.size)
        .key("fields")
        .begin_object();
    pe::visit_isf_fields(table_, index, budget_, findings_, [&](const pe::IsfField& field) {
      json_.key(std::string_view{field.name}).begin_object().field("offset", field.offset);
      json_.key("type");
      write_type(field.type);
      json_.end_object();
    });
    json_.end_object().end_object();
  }

  void write_enumeration(const std::string& name, u32 index) {
    const auto enumeration = *pe::read_enumeration(*table_.find_record(index));
    const auto* const integer = pe::find_simple_type(enumeration.underlying);
    const auto size = pe::size_of(table_, index);
    json_.key(std::string_view{name})
        .begin_object()
        .field("size", size.value_or(0))
        .field("base", integer ? use(pe::isf_base_of(*integer)) : use_void())
        .key("constants")
        .begin_object();
    std::set<std::string> taken;
    pe::visit_members(table_, index, {}, budget_, findings_, [&](const pe::TypeMember& member) {
      auto constant = core::to_valid_utf8(member.name);
      if (member.field.kind != Field::Kind::enumerator || !taken.insert(constant).second) return;
      json_.key(std::string_view{constant});
      if (is_negative(table_, index, member.field.value))
        json_.value(static_cast<i64>(member.field.value));
      else
        json_.value(member.field.value);
    });
    json_.end_object().end_object();
  }

  // A type as nested objects: each layer begins one, and all end together.
  void write_type(u32 index) {
    u32 open = 0;
    for (const auto& layer : pe::layers_of(table_, index)) {
      if (layer.kind == TypeLayer::Kind::modifier) continue;
      budget_.take(64);
      json_.begin_object();
      ++open;
      if (!write_layer(layer)) break;
    }
    if (open == 0 || !complete_) {
      json_.begin_object();
      ++open;
      write_base(use_void());
    }
    for (; open > 0; --open) json_.end_object();
  }

  // False where nothing follows inside the layer.
  bool write_layer(const TypeLayer& layer) {
    complete_ = true;
    switch (layer.kind) {
      case TypeLayer::Kind::pointer:
        return write_pointer(layer);
      case TypeLayer::Kind::array:
        return write_array(layer);
      case TypeLayer::Kind::bit_field:
        json_.field("kind", "bitfield")
            .field("bit_position", layer.bit_field.position)
            .field("bit_length", layer.bit_field.length)
            .key("type");
        complete_ = false;
        return true;
      case TypeLayer::Kind::function:
        json_.field("kind", "function");
        return false;
      case TypeLayer::Kind::named:
        write_named(layer);
        return false;
      case TypeLayer::Kind::simple:
        write_simple(layer);
        return false;
      case TypeLayer::Kind::modifier:
      case TypeLayer::Kind::unknown:
        break;
    }
    write_base(use_void());
    return false;
  }

  // Those that are not addresses, of data members (an offset) and of methods, are their bytes.
  bool write_pointer(const TypeLayer& layer) {
    const auto size = layer.size.value_or(table_.pointer_size());
    using Mode = pe::Pointer::Mode;
    const bool address =
        layer.pointer.mode != Mode::data_member && layer.pointer.mode != Mode::method;
    if (!address || (size != 2 && size != 4 && size != 8)) {
      write_bytes(size);
      return false;
    }
    json_.field("kind", "pointer");
    const auto base = use(pointer_base(size));
    if (size != table_.pointer_size()) json_.field("base", base);
    json_.key("subtype");
    complete_ = false;
    return true;
  }

  // Of elements whose size is not known, the bytes.
  bool write_array(const TypeLayer& layer) {
    if (!layer.count) {
      write_bytes(layer.size.value_or(0));
      return false;
    }
    json_.field("kind", "array").field("count", *layer.count).key("subtype");
    complete_ = false;
    return true;
  }

  // std::nullptr_t is a pointer to void.
  void write_simple(const TypeLayer& layer) {
    if (layer.index != pe::nullptr_index)
      return write_base(layer.simple ? use(pe::isf_base_of(*layer.simple)) : use_void());
    use(pointer_base(table_.pointer_size()));
    json_.field("kind", "pointer").key("subtype").begin_object();
    write_base(use_void());
    json_.end_object();
  }

  void write_bytes(u64 count) {
    json_.field("kind", "array").field("count", count).key("subtype").begin_object();
    write_base(use(pe::isf_base_of(*pe::find_simple_type(0x20))));
    json_.end_object();
  }

  void write_named(const TypeLayer& layer) {
    using Family = pe::TypeTable::Family;
    const auto family = layer.named->family;
    const auto name = names_.name_of(layer.index);
    budget_.take(name.size());
    json_
        .field("kind", std::string_view{family == Family::enumeration ? "enum"
                                        : family == Family::union_    ? "union"
                                                                      : "struct"})
        .field("name", name);
  }

  void write_base(std::string_view name) { json_.field("kind", "base").field("name", name); }

  pe::IsfBase pointer_base(u64 size) const {
    const auto name = size == table_.pointer_size() ? "pointer"
                      : size == 2                   ? "pointer16"
                      : size == 4                   ? "pointer32"
                                                    : "pointer64";
    return {name, "int", static_cast<u8>(size), false};
  }

  std::string_view use(const pe::IsfBase& base) {
    return bases_.try_emplace(std::string{base.name}, base).first->first;
  }
  std::string_view use_void() { return use(pe::isf_base_of(*pe::find_simple_type(0x03))); }

  JsonWriter& json_;
  const pe::TypeTable& table_;
  core::Findings& findings_;
  pe::IsfNames names_;
  pe::TypeBudget budget_;
  std::map<std::string, pe::IsfBase> bases_;
  bool complete_ = true;  // whether the last layer needs none inside
};

}  // namespace

void write_isf_metadata(JsonWriter& json, const pe::PdbIdentity& identity,
                        std::string_view database,
                        const std::optional<pe::VersionNumber>& version) {
  json.key("metadata").begin_object().field("format", "6.2.0").key("producer");
  json.object("name", std::string_view{"coldtrace"}, "version",
              tool_version.substr(tool_version.find(' ') + 1));
  json.key("windows").begin_object().key("pdb").object(
      "GUID", pe::to_plain_text(identity.guid.value_or(core::Guid{})), "age", identity.age,
      "database", database, "machine_type", identity.machine.value_or(0));
  if (version)  // in the order in which Volatility compares versions
    json.key("pe").object("major", (*version)[0], "minor", (*version)[1], "revision", (*version)[2],
                          "build", (*version)[3]);
  json.end_object().end_object();
}

void write_isf(JsonWriter& json, const pe::SymbolFile& file, const pe::TypeTable& table,
               std::string_view database, const std::optional<pe::VersionNumber>& version,
               core::Findings& findings) {
  json.begin_object();
  write_isf_metadata(json, file.identity, database, version);
  Writer writer{json, table, findings};
  writer.write_user_types();
  writer.write_enumerations();
  writer.write_bases();
  json.key("symbols").begin_object();
  for (const auto& symbol : pe::isf_symbols(file.publics.symbols, findings)) {
    json.key(std::string_view{symbol.name}).begin_object().field("address", symbol.address);
    if (!symbol.linkage_name.empty()) json.field("linkage_name", symbol.linkage_name);
    json.end_object();
  }
  json.end_object().end_object().end_document();
}

}  // namespace coldtrace::cli
