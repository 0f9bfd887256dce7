// PE images: identity, exports, system services.

#include <pybind11/stl.h>

#include "coldtrace/syscall-map/stubs/service_map.hpp"
#include "python/images.hpp"
#include "python/packed.hpp"
#include "python/values.hpp"

namespace coldtrace::python {
namespace {

const Record* export_record = nullptr;
const Record* service_record = nullptr;

std::shared_ptr<PeImage> open_pe(const Path& given) {
  const auto& path = given.bytes;
  constexpr u64 largest = u64{1} << 30;
  auto file = core::LazyFile::open(path, largest);
  if (!file) raise_error(path + ": " + to_string(file.error()));
  core::Findings findings;
  auto image = pe::Image::open(**file, {}, findings);
  if (!image) {
    if (const auto& unread = (*file)->error()) raise_error(path + ": " + to_string(*unread));
    const auto kind = core::recognize_file(core::FileView{**file});
    raise_error(path + ": " +
                (kind && core::has_dos_header(*kind) ? to_string(image.error())
                                                     : describe_other(kind, "a PE image")));
  }
  return std::make_shared<PeImage>(path, std::move(*file), std::move(*image), std::move(findings));
}

py::list exports_of(PeImage& self) {
  const auto& exports = self.view.exports();
  self.findings.merge_unknown(exports.findings);
  if (exports.error) raise_error(self.path + ": " + to_string(*exports.error));
  py::list list;
  for (const auto& symbol : exports.directory.exports) {
    const std::array values{symbol.has_name() ? text(symbol.name) : none(), number(symbol.ordinal),
                            number(value(symbol.address)),
                            symbol.is_forwarder ? text(symbol.forwarder) : none()};
    list.append(py::reinterpret_steal<py::object>(export_record->make(values)));
  }
  return list;
}

py::list services_of(PeImage& self) {
  auto map = self.view.services();
  note_unnamed(map);
  self.findings.merge_unknown(map.findings);
  py::list list;
  for (const auto& service : map.services) {
    const auto words = [](const auto& all) {
      return tuple_of(all, [](const auto& word) { return text(word); });
    };
    const std::array values{number(service.number),
                            text_or_none(service.name),
                            words(service.aliases),
                            text(to_string(service.table)),
                            number(value(service.rva)),
                            number_or_none(service.file_offset),
                            number_or_none(service.argument_bytes),
                            text_or_none(service.shape),
                            text(to_string(service.source)),
                            truth(service.hooked),
                            text_or_none(service.hook),
                            truth(service.verified),
                            words(service.evidence)};
    list.append(py::reinterpret_steal<py::object>(service_record->make(values)));
  }
  return list;
}

}  // namespace

void add_images(py::module_& module) {
  static const Record exported{module,
                               "Export",
                               "An exported name, or a function without one.",
                               {{"name", ""}, {"ordinal", ""}, {"rva", ""}, {"forwarder", ""}}};
  static const Record service{module,
                              "Service",
                              "A system service, as found in one image.",
                              {{"number", ""},
                               {"name", "NtX; None for a stub without an export"},
                               {"aliases", ""},
                               {"table", "'nt' or 'win32k'"},
                               {"rva", "of the stub"},
                               {"file_offset", ""},
                               {"argument_bytes", "if the code proves it"},
                               {"shape", "of the stub"},
                               {"source", "'read' or 'inferred'"},
                               {"hooked", ""},
                               {"hook", "what is in the stub's place"},
                               {"verified", ""},
                               {"evidence", "sentences"}}};
  export_record = &exported;
  service_record = &service;
  const auto pdb = [](auto get) {
    return [get](const PeImage& self) -> py::object {
      return self.identity.pdb ? get(*self.identity.pdb) : py::none();
    };
  };
  py::class_<PeImage, std::shared_ptr<PeImage>> type{module, "PeImage",
                                                     "A PE image: EXE, DLL or driver."};
  forbid_new(type);
  type.def_property_readonly("path", [](const PeImage& self) { return to_str(self.path); })
      .def_property_readonly("name",
                             [](const PeImage& self) -> py::object {
                               const auto& name = self.identity.name;
                               return name.empty() ? py::none() : to_str(name);
                             })
      .def_property_readonly(
          "machine",
          [](const PeImage& self) { return std::string{to_string(self.identity.machine)}; })
      .def_property_readonly("file_version",
                             [](const PeImage& self) -> py::object {
                               const auto& version = self.identity.file_version;
                               return version ? to_str(*version) : py::none();
                             })
      .def_property_readonly("time_date_stamp",
                             [](const PeImage& self) { return self.identity.time_date_stamp; })
      .def_property_readonly("size_of_image",
                             [](const PeImage& self) { return self.identity.size_of_image; })
      .def_property_readonly("checksum", [](const PeImage& self) { return self.identity.checksum; })
      .def_property_readonly("pdb_path", pdb([](const auto& reference) -> py::object {
                               const auto path = pe::symbol_server_path(reference);
                               return path ? to_str(*path) : py::none();
                             }))
      .def_property_readonly("findings", [](const PeImage& self) { return to_list(self.findings); })
      .def("exports", &exports_of, "Exported functions, by ordinal.")
      .def("services", &services_of, "System services, by number.");
  module.def("open_pe", &open_pe, py::arg("path"),
             "Opens an EXE, DLL or driver, as a file or as dumped from memory.");
}

}  // namespace coldtrace::python
