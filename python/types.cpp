// Types of PDB files.

#include <memory>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "coldtrace/pdb/type_file.hpp"
#include "coldtrace/pdb/type_layers.hpp"
#include "coldtrace/pdb/type_members.hpp"
#include "coldtrace/pdb/type_selection.hpp"
#include "coldtrace/pdb/type_words.hpp"
#include "python/packed.hpp"
#include "python/values.hpp"

namespace coldtrace::python {
namespace {

const Record* type_record = nullptr;
const Record* type_member_record = nullptr;

struct TypeFile {
  pe::TypeFile file;
  pe::TypeBudget budget;
};

std::string describe(const pe::SymbolFile::Failure& failure) {
  if (!failure.kind) return to_string(failure.error);
  switch (*failure.kind) {
    case core::FileKind::pdb:
    case core::FileKind::pdb_2:
      return to_string(failure.error);
    case core::FileKind::pdb_z:
    case core::FileKind::portable_pdb:
      return fmt::format("it is {}, which is not read", to_string(*failure.kind));
    default:
      return describe_other(*failure.kind, "a PDB");
  }
}

std::shared_ptr<TypeFile> open_types(const Path& given) {
  const auto& path = given.bytes;
  auto file = pe::TypeFile::open(path);
  if (!file) raise_error(path + ": " + describe(file.error()));
  pe::TypeBudget budget{file->table};
  return std::make_shared<TypeFile>(TypeFile{std::move(*file), budget});
}

std::vector<std::string> to_texts(const py::args& names) {
  std::vector<std::string> texts;
  for (const auto name : names) {
    py::detail::make_caster<Text> text;
    if (!text.load(name, false)) throw py::type_error("names and globs of types have to be str");
    texts.push_back(static_cast<Text&>(text).utf8);
  }
  return texts;
}

// Makes types one by one.
class Types {
 public:
  Types(std::shared_ptr<TypeFile> file, const std::vector<std::string>& names, u32 depth)
      : file_{std::move(file)},
        depth_{depth},
        types_{pe::select_types(file_->file.table, names, file_->file.findings)} {}

  py::object next() {
    if (next_ == types_.size()) throw py::stop_iteration{};
    const auto& type = types_[next_++];
    const auto& table = file_->file.table;
    const auto& record = *table.find_record(type.index);
    const auto head = pe::read_type_head(record).value_or(pe::TypeHead{});
    const bool defined = (head.properties & pe::property_forward) == 0;
    std::vector<pe::TypeMember> members;
    if (defined)
      pe::visit_members(table, type.index, {.depth = depth_, .paths = false, .each_overload = true},
                        file_->budget, file_->file.findings,
                        [&](const pe::TypeMember& member) { members.push_back(member); });
    const std::array values{
        text(type.name),
        text(pe::keyword_of(record)),
        number(type.index),
        truth(defined),
        defined ? number_or_none(pe::size_of(table, type.index)) : none(),
        tuple_of(members, [&](const auto& member) { return make_member(type.index, member); })};
    return py::reinterpret_steal<py::object>(type_record->make(values));
  }

 private:
  Object make_member(u32 type, const pe::TypeMember& member) {
    const auto& table = file_->file.table;
    const auto& field = member.field;
    using Kind = pe::Field::Kind;
    const bool is_number = field.kind == Kind::enumerator;
    const bool placed =
        field.kind == Kind::member || field.kind == Kind::base || field.kind == Kind::virtual_table;
    std::optional<pe::BitField> bits;
    if (const auto* const record = table.find_record(field.type); !is_number && record != nullptr)
      bits = pe::read_bit_field(*record);
    const std::array values{text(pe::word_of(field.kind)),
                            text_or_none(member.name),
                            number(member.level),
                            placed ? number(member.offset) : none(),
                            placed ? number_or_none(pe::size_of(table, field.type)) : none(),
                            is_number ? none() : text(pe::to_text(table, field.type)),
                            bits ? number(bits->position) : none(),
                            bits ? number(bits->length) : none(),
                            !is_number ? none()
                            : pe::is_negative(table, type, field.value)
                                ? signed_number(static_cast<i64>(field.value))
                                : number(field.value)};
    return type_member_record->make(values);
  }

  std::shared_ptr<TypeFile> file_;
  u32 depth_;
  std::vector<pe::TypeTable::Definition> types_;
  std::size_t next_ = 0;
};

}  // namespace

void add_types(py::module_& module) {
  static const Record member{module,
                             "TypeMember",
                             "A member of a structure, union or enumeration.",
                             {{"kind", "'member', 'enumerator', 'base' and so on"},
                              {"name", ""},
                              {"level", "0: of the type itself, 1: of a member's type"},
                              {"offset", "from the start of the type"},
                              {"size", "in bytes"},
                              {"type", "as 'dt' shows it"},
                              {"bit_position", ""},
                              {"bit_length", ""},
                              {"value", "for an enumerator"}}};
  static const Record type{module,
                           "Type",
                           "A structure, union or enumeration.",
                           {{"name", ""},
                            {"kind", "'struct', 'class', 'union', 'interface' or 'enum'"},
                            {"index", "of its record"},
                            {"defined", "False: only declared"},
                            {"size", "in bytes"},
                            {"members", "a tuple of TypeMember"}}};
  type_member_record = &member;
  type_record = &type;
  py::class_<Types> iterator{module, "_Types"};
  forbid_new(iterator);
  iterator.def("__iter__", [](py::object self) { return self; }).def("__next__", [](Types& self) {
    return self.next();
  });
  py::class_<TypeFile, std::shared_ptr<TypeFile>> file{module, "TypeFile", "The types of a PDB."};
  forbid_new(file);
  file.def_property_readonly("guid",
                             [](const TypeFile& self) -> py::object {
                               const auto& guid = self.file.identity.guid;
                               if (!guid) return py::none();
                               return py::cast(core::to_string(*guid));
                             })
      .def_property_readonly("age", [](const TypeFile& self) { return self.file.identity.age; })
      .def_property_readonly("pointer_size",
                             [](const TypeFile& self) { return self.file.table.pointer_size(); })
      .def_property_readonly("findings",
                             [](const TypeFile& self) { return to_list(self.file.findings); })
      .def(
          "types",
          [](const std::shared_ptr<TypeFile>& self, const py::args& names, Unsigned<u32> depth) {
            return std::make_unique<Types>(not_none(self), to_texts(names), depth.value);
          },
          py::kw_only(), py::arg("depth") = 0,
          "Types by names and globs, all without any, with 'depth' levels of members of members.");
  module.def("open_types", &open_types, py::arg("path"), "Opens a PDB.");
}

}  // namespace coldtrace::python
