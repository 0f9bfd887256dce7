// Images of disks and volumes.

#include "python/disk_images.hpp"

#include <array>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_key_files.hpp"
#include "coldtrace/ntfs/containers/image_kinds.hpp"
#include "coldtrace/ntfs/disk/spooled_image.hpp"
#include "coldtrace/ntfs/opening/unopened_volume.hpp"
#include "python/packed.hpp"

namespace coldtrace::python {
namespace {

using core::FileKind;

const Record* partition_record = nullptr;

bool may_be_image(core::ByteView, FileKind kind, std::string_view name) {
  return ntfs::may_be_image(kind, name);
}

using Opened = core::Expected<ntfs::ImageFile, std::string>;

Opened unpack_image(const core::ImageSource& packed, FileKind kind, core::Findings& findings) {
  auto bytes = unpack_one(packed, kind, tracefile::default_unpacked_limit(packed.size()),
                          "an image", may_be_image, findings);
  if (!bytes) return core::fail(bytes.error());
  auto opened = ntfs::open_spooled_image(std::move(*bytes), name_of(kind), findings, {});
  if (opened) return std::move(*opened);
  const auto& [text, error] = opened.error();
  return core::fail(error ? to_string(*error) : text);
}

Opened open_file(const std::string& path, const std::vector<std::string>& parents,
                 core::Findings& findings) {
  auto opened = ntfs::open_image(path, findings, parents);
  if (!opened) return core::fail(to_string(opened.error()));
  auto file = std::move(*opened);
  if (file.container == "raw" && tracefile::is_unpackable(file.kind)) {
    auto unpacked = unpack_image(*file.source, file.kind, findings);
    if (!unpacked) return unpacked;
    file = std::move(*unpacked);
  }
  if (ntfs::content_of(file, {}) == ntfs::ImageContent::unopened)
    return core::fail(describe_other(file.kind, "a disk or a volume"));
  return file;
}

// Why the opened file is neither a disk nor a volume.
std::optional<std::string> refuse_other(const ntfs::ImageVolumes& image) {
  if (const auto kind = ntfs::find_other_file(image))
    return describe_other(*kind, "a disk or a volume");
  const auto size = image.file.source->size();
  if (!image.is_mft && size < ntfs::BootSector::size_on_disk)
    return fmt::format("it has {}, which is not a disk or a volume",
                       core::counted(size, "byte", "bytes"));
  return std::nullopt;
}

std::shared_ptr<DiskImage> open_image(const Path& given, const std::vector<Path>& parents,
                                      const std::vector<Path>& password_files,
                                      const std::vector<Path>& recovery_key_files,
                                      const std::vector<Path>& startup_keys) {
  const auto keys = ntfs::read_bitlocker_keys(
      {to_strings(password_files), to_strings(recovery_key_files), to_strings(startup_keys)});
  if (!keys) raise_error(keys.error().path + ": " + keys.error().why);
  const auto& path = given.bytes;
  auto image = std::make_shared<DiskImage>();
  image->path = path;
  std::optional<std::string> error;
  {
    const WithoutLock unlocked;
    auto file = open_file(path, to_strings(parents), image->findings);
    if (!file) {
      error = file.error();
    } else {
      auto volumes = ntfs::read_volumes(std::move(*file), {}, *keys, image->findings);
      ntfs::tell_unused_keys(volumes.keys, volumes.bitlocker, image->findings);
      error = refuse_other(volumes);
      static_cast<ntfs::ImageVolumes&>(*image) = std::move(volumes);
    }
  }
  if (error) raise_error(path + ": " + *error);
  return image;
}

py::list partitions_of(const DiskImage& image) {
  py::list list;
  for (const auto& partition : image.disk.partitions) {
    const std::array values{number_or_none(number_of(partition)),
                            number(partition.offset),
                            number(partition.size),
                            text_or_none(partition.type),
                            text_or_none(partition.name),
                            text(name_of(partition.kind))};
    list.append(py::reinterpret_steal<py::object>(partition_record->make(values)));
  }
  return list;
}

void require_inside(const DiskImage& image, u64 offset, u64 size) {
  const auto end = image.file.source->size();
  if (offset > end || size > end - offset)
    raise_error(image.path + ": these bytes are not all inside the image");
}

void read_bytes(const DiskImage& image, u64 offset, std::span<std::byte> destination) {
  std::optional<core::ParseError> error;
  {
    const WithoutLock unlocked;
    const auto read = image.file.source->read_at(offset, destination);
    if (!read) error = read.error();
  }
  if (error) raise_error(image.path + ": " + to_string(*error));
}

py::bytes read_image(const DiskImage& image, Unsigned<u64> start, Unsigned<u64> length) {
  const auto [offset, size] = std::pair{start.value, length.value};
  require_inside(image, offset, size);
  auto bytes = py::reinterpret_steal<py::bytes>(
      checked(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size))));
  const std::span<char> destination{PyBytes_AS_STRING(bytes.ptr()), size};
  read_bytes(image, offset, std::as_writable_bytes(destination));
  return bytes;
}

// Keeps the bytes of a writable Python object in place.
class WritableBuffer {
 public:
  explicit WritableBuffer(const py::object& object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_CONTIG) != 0) throw py::error_already_set{};
  }
  ~WritableBuffer() { PyBuffer_Release(&view_); }
  WritableBuffer(const WritableBuffer&) = delete;
  WritableBuffer& operator=(const WritableBuffer&) = delete;

  std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_ = {};
};

void read_image_into(const DiskImage& image, Unsigned<u64> offset, const py::object& buffer) {
  const WritableBuffer destination{buffer};
  require_inside(image, offset.value, destination.bytes().size());
  read_bytes(image, offset.value, destination.bytes());
}

}  // namespace

py::class_<DiskImage, std::shared_ptr<DiskImage>> add_disk_images(py::module_& module) {
  static const Record partition{module,
                                "Partition",
                                "A range of a disk; a bare volume is one without a number.",
                                {{"number", "from 1, or None"},
                                 {"offset", "in bytes"},
                                 {"size", "in bytes"},
                                 {"type", "'0x07' or a GUID"},
                                 {"name", "in its GPT entry"},
                                 {"holds", "'ntfs_volume' and so on, by its first sectors"}}};
  partition_record = &partition;
  py::class_<DiskImage, std::shared_ptr<DiskImage>> disk{
      module, "DiskImage", "An image of a disk or a volume, or a copied $MFT."};
  forbid_new(disk);
  disk.def_property_readonly("path", [](const DiskImage& image) { return to_str(image.path); })
      .def_property_readonly(
          "container", [](const DiskImage& image) { return std::string{image.file.container}; })
      .def_property_readonly("size",
                             [](const DiskImage& image) { return image.file.source->size(); })
      .def_property_readonly("partitions", &partitions_of)
      .def_property_readonly("findings",
                             [](const DiskImage& image) {
                               auto findings = image.findings;
                               image.file.add_findings(findings);
                               return to_list(findings);
                             })
      .def("read", &read_image, py::arg("offset"), py::arg("size"),
           "Bytes of the disk or volume in the image.")
      .def("read_into", &read_image_into, py::arg("offset"), py::arg("buffer"),
           "Fills a writable buffer (bytearray, memoryview, mmap, array) with such bytes.");
  module.def(
      "open_image", &open_image, py::arg("path"), py::kw_only(),
      py::arg("parents") = std::vector<std::string>{},
      py::arg("password_files") = std::vector<std::string>{},
      py::arg("recovery_key_files") = std::vector<std::string>{},
      py::arg("startup_keys") = std::vector<std::string>{},
      "Opens an image, recognised by its contents: raw, split, E01, VHD, VHDX, VMDK, QCOW2, a "
      "$MFT, or a compressed raw image. BitLocker volumes are read decrypted, with the keys in "
      "these files.");
  return disk;
}

}  // namespace coldtrace::python
