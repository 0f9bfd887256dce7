#include "ntfs/containers/disk_library.hpp"

#include <bit>

#include <dlfcn.h>

namespace coldtrace::ntfs {
namespace {

using core::FileKind;

// Finds functions by the prefix that all of a library have.
class Symbols {
 public:
  Symbols(void* library, std::string prefix) : library_{library}, prefix_{std::move(prefix)} {}

  template <class Function>
  Symbols& find(const char* name, Function& function) {
    function = std::bit_cast<Function>(::dlsym(library_, (prefix_ + name).c_str()));
    complete_ = complete_ && function != nullptr;
    return *this;
  }
  bool complete() const { return complete_; }

 private:
  void* library_;
  std::string prefix_;
  bool complete_ = true;
};

struct Names {
  core::Name structure;
  core::Name library;
  const char* soname;
  const char* prefix;
  const char* set_parent;
  const char* parent_name_size;
  const char* parent_name;
};

bool find_extent_functions(void* library, DiskLibrary& found) {
  Symbols handle{library, "libvmdk_handle_"};
  handle.find("get_number_of_extents", found.get_extent_count)
      .find("get_extent_descriptor", found.get_extent)
      .find("open_extent_data_files", found.open_extents);
  Symbols extent{library, "libvmdk_extent_descriptor_"};
  extent.find("free", found.free_extent)
      .find("get_utf8_filename_size", found.get_extent_name_size)
      .find("get_utf8_filename", found.get_extent_name);
  return handle.complete() && extent.complete();
}

DiskLibrary load(const Names& names, bool extents) {
  DiskLibrary absent{names.structure, names.library};
  void* const library = ::dlopen(names.soname, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return absent;
  auto found = absent;
  Symbols symbols{library, names.prefix};
  symbols.find("initialize", found.initialize)
      .find("free", found.free)
      .find("open", found.open)
      .find("close", found.close)
      .find("get_media_size", found.get_media_size)
      .find("read_buffer_at_offset", found.read)
      .find(names.set_parent, found.set_parent)
      .find(names.parent_name_size, found.get_parent_name_size)
      .find(names.parent_name, found.get_parent_name);
  const bool complete = symbols.complete() && (!extents || find_extent_functions(library, found));
  return complete ? found : absent;
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
