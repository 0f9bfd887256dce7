#include "ntfs/containers/disk_library.hpp"

#include "coldtrace/core/loaded_library.hpp"

namespace coldtrace::ntfs {
namespace {

using core::FileKind;

struct Names {
  core::Name structure;
  core::Name library;
  const char* soname;
  const char* prefix;
  const char* set_parent;
  const char* parent_name_size;
  const char* parent_name;
};

bool find_extent_functions(const char* soname, DiskLibrary& found) {
  return core::LoadedLibrary{soname, "libvmdk_handle_"}
             .find("get_number_of_extents", found.get_extent_count)
             .find("get_extent_descriptor", found.get_extent)
             .find("open_extent_data_files", found.open_extents)
             .is_complete() &&
         core::LoadedLibrary{soname, "libvmdk_extent_descriptor_"}
             .find("free", found.free_extent)
             .find("get_utf8_filename_size", found.get_extent_name_size)
             .find("get_utf8_filename", found.get_extent_name)
             .is_complete();
}

DiskLibrary load(const Names& names, bool extents) {
  const DiskLibrary absent{names.structure, names.library};
  auto found = absent;
  const bool complete = core::LoadedLibrary{names.soname, names.prefix}
                            .find("initialize", found.initialize)
                            .find("free", found.free)
                            .find("open", found.open)
                            .find("close", found.close)
                            .find("get_media_size", found.get_media_size)
                            .find("read_buffer_at_offset", found.read)
                            .find(names.set_parent, found.set_parent)
                            .find(names.parent_name_size, found.get_parent_name_size)
                            .find(names.parent_name, found.get_parent_name)
                            .is_complete();
  return complete && (!extents || find_extent_functions(names.soname, found)) ? found : absent;
}

const DiskLibrary& libvhdi() {
  static const auto library =
      load({"VHD or VHDX image", "libvhdi", "libvhdi.so.1", "libvhdi_file_", "set_parent_file",
            "get_utf8_parent_filename_size", "get_utf8_parent_filename"},
           false);
  return library;
}

const DiskLibrary& libqcow() {
  static const auto library =
      load({"QCOW2 image", "libqcow", "libqcow.so.1", "libqcow_file_", "set_parent_file",
            "get_utf8_backing_filename_size", "get_utf8_backing_filename"},
           false);
  return library;
}

const DiskLibrary& libvmdk() {
  static const auto library =
      load({"VMDK image", "libvmdk", "libvmdk.so.1", "libvmdk_handle_", "set_parent_handle",
            "get_utf8_parent_filename_size", "get_utf8_parent_filename"},
           true);
  return library;
}

}  // namespace

const DiskLibrary* disk_library(FileKind kind) {
  switch (kind) {
    case FileKind::vhd:
    case FileKind::vhd_fixed:
    case FileKind::vhdx:
      return &libvhdi();
    case FileKind::qcow:
      return &libqcow();
    case FileKind::vmdk:
    case FileKind::vmdk_descriptor:
      return &libvmdk();
    default:
      return nullptr;
  }
}

}  // namespace coldtrace::ntfs
