// Hook tables: made from a kernel, or read from a .hooktab file.

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "coldtrace/syscall-map/hook-table/hook_table_builder.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_decoder.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "python/images.hpp"
#include "python/packed.hpp"
#include "python/values.hpp"

namespace coldtrace::python {
namespace {

using syscall_map::HookTable;

const Record* hook_table_record = nullptr;
const Record* hook_image_record = nullptr;
const Record* hook_service_record = nullptr;
const Record* hook_member_record = nullptr;
const Record* switch_record = nullptr;

Object make_image(const syscall_map::HookTableImage& image) {
  const auto& identity = image.identity;
  const std::array values{text(to_string(image.role)),
                          text_or_none(identity.name),
                          text(to_string(identity.machine)),
                          identity.file_version ? text(*identity.file_version) : none(),
                          number(identity.time_date_stamp),
                          number(identity.size_of_image),
                          number(identity.checksum)};
  return hook_image_record->make(values);
}

Object make_service(const syscall_map::HookService& service) {
  const std::array values{number(service.number),
                          text(to_string(service.table)),
                          tuple_of(service.names, [](const auto& name) { return text(name); }),
                          service.image ? text(to_string(*service.image)) : none(),
                          service.target ? number(value(*service.target)) : none(),
                          number_or_none(service.argument_bytes),
                          number_or_none(service.stack_argument_bytes),
                          number_or_none(service.name_hash),
                          text(to_string(service.confidence)),
                          truth(service.verified)};
  return hook_service_record->make(values);
}

Object make_member(const syscall_map::MemberValue& member) {
  const std::array values{text(member.name),
                          text(to_string(member.kind)),
                          !member.value     ? none()
                          : member.negative ? signed_number(static_cast<i64>(*member.value))
                                            : number(*member.value),
                          number_or_none(member.size),
                          number_or_none(member.bit_position),
                          number_or_none(member.bit_length),
                          member.value ? text(to_string(member.confidence)) : none()};
  return hook_member_record->make(values);
}

Object make_switch(const syscall_map::ContextSwitch& place) {
  const std::array values{text(place.name), number(value(place.rva)),
                          text(to_string(place.condition)), text(to_string(place.confidence))};
  return switch_record->make(values);
}

py::object make_table(const HookTable& table) {
  const std::array values{
      tuple_of(table.images, make_image), tuple_of(table.services, make_service),
      tuple_of(table.members, make_member), tuple_of(table.context_switch.candidates, make_switch),
      to_list(table.findings).release().ptr()};
  return py::reinterpret_steal<py::object>(
      hook_table_record->make(values, Record::Cycles::possible));
}

py::object build_table(const std::shared_ptr<PeImage>& kernel) {
  const syscall_map::HookTableSource source{
      {syscall_map::ImageRole::kernel, kernel->path, kernel->identity, {}}, &kernel->view};
  auto table = syscall_map::build_hook_table({{source}});
  auto findings = kernel->opening;
  findings.merge_unknown(table.findings);
  table.findings = std::move(findings);
  return make_table(table);
}

using Tables = core::Expected<std::vector<HookTable>, std::string>;

Tables decode_tables(core::ByteView bytes) {
  auto tables = syscall_map::decode_hook_tables(bytes);
  if (!tables) return core::fail(to_string(tables.error()));
  return std::move(*tables);
}

Tables unpack_tables(const core::ImageSource& packed, core::FileKind kind) {
  constexpr std::string_view wanted = "a hook table";
  const auto is_table = [](core::ByteView, core::FileKind member, std::string_view) {
    return member == core::FileKind::hook_table;
  };
  core::Findings findings;
  const auto file =
      unpack_one(packed, kind, syscall_map::largest_hook_table, wanted, is_table, findings);
  if (!file) return core::fail(file.error());
  for (const auto& finding : findings.all())
    if (finding.severity == core::Severity::warning)
      return core::fail(fmt::format("it is {}: {}", to_string(kind), finding.text));
  std::vector<std::byte> bytes((*file)->size());
  if (const auto read = (*file)->read_at(0, bytes); !read)
    return core::fail(to_string(read.error()));
  if (syscall_map::is_hook_table(bytes)) return decode_tables(bytes);
  return core::fail(fmt::format("it is {}; unpacked, {}", to_string(kind),
                                describe_other(core::recognize_bytes(bytes), wanted)));
}

Tables read_builds(const std::string& path) {
  const auto file = core::LazyFile::open(path, syscall_map::largest_hook_table);
  if (!file) return core::fail(to_string(file.error()));
  const auto content = (*file)->clip(0, (*file)->size());
  if ((*file)->error()) return core::fail(to_string(*(*file)->error()));
  if (syscall_map::is_hook_table(content)) return decode_tables(content);
  const core::MemoryImage image{content};
  const auto kind = core::recognize_bytes(content);
  if (tracefile::is_unpackable(kind)) return unpack_tables(image, kind);
  return core::fail(describe_other(kind, "a hook table"));
}

py::list read_tables(const Path& path) {
  const auto tables = [&] {
    const WithoutLock unlocked;
    return read_builds(path.bytes);
  }();
  if (!tables) raise_error(path.bytes + ": " + tables.error());
  py::list list;
  for (const auto& table : *tables) list.append(make_table(table));
  return list;
}

}  // namespace

void add_hook_tables(py::module_& module) {
  static const Record image{module,
                            "HookTableImage",
                            "An image from which a table was made.",
                            {{"role", "'kernel', 'ntdll' and so on"},
                             {"name", ""},
                             {"machine", ""},
                             {"file_version", ""},
                             {"time_date_stamp", ""},
                             {"size_of_image", ""},
                             {"checksum", ""}}};
  static const Record service{module,
                              "HookService",
                              "A system service of one build.",
                              {{"number", ""},
                               {"table", "'nt' or 'win32k'"},
                               {"names", "NtX first"},
                               {"image", "the image with the target"},
                               {"target", "RVA of the function that does the work"},
                               {"argument_bytes", ""},
                               {"stack_argument_bytes", ""},
                               {"name_hash", "of KiServicesTab"},
                               {"confidence", ""},
                               {"verified", ""}}};
  static const Record member{module,
                             "HookMember",
                             "A requested offset, address, size or constant.",
                             {{"name", ""},
                              {"kind", ""},
                              {"value", "None: not in this build"},
                              {"size", "in bytes"},
                              {"bit_position", ""},
                              {"bit_length", ""},
                              {"confidence", ""}}};
  static const Record place{module,
                            "ContextSwitch",
                            "A place where the kernel switches threads, or may do so.",
                            {{"name", ""}, {"rva", ""}, {"condition", ""}, {"confidence", ""}}};
  static const Record table{module,
                            "HookTable",
                            "What a tracer needs to know about one build.",
                            {{"images", "a tuple of HookTableImage"},
                             {"services", "a tuple of HookService, by number"},
                             {"members", "a tuple of HookMember"},
                             {"context_switches", "a tuple of ContextSwitch"},
                             {"findings", "a list of Finding"}}};
  hook_image_record = &image;
  hook_service_record = &service;
  hook_member_record = &member;
  switch_record = &place;
  hook_table_record = &table;
  module.def("build_hook_table", &build_table, py::arg("kernel").none(false),
             "The hook table of a kernel, as from 'coldtrace hooks table --kernel'.");
  module.def("read_hook_tables", &read_tables, py::arg("path"),
             "The builds of a binary hook table, compressed or not.");
}

}  // namespace coldtrace::python
