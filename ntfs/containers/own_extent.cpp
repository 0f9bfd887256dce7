#include "ntfs/containers/own_extent.hpp"

#include "coldtrace/core/loaded_library.hpp"

namespace coldtrace::ntfs {
namespace {

struct FilePool;
struct PooledFile;

// By the declarations of libbfio 20170123, which libvmdk brings along, and libvmdk 20200926.
struct PoolLibrary {
  int (*initialize_pool)(FilePool**, int count, int most_open, DiskLibrary::Error**) = nullptr;
  int (*free_pool)(FilePool**, DiskLibrary::Error**) = nullptr;
  int (*append)(FilePool*, int* entry, PooledFile*, int access, DiskLibrary::Error**) = nullptr;
  int (*initialize_file)(PooledFile**, DiskLibrary::Error**) = nullptr;
  int (*free_file)(PooledFile**, DiskLibrary::Error**) = nullptr;
  int (*set_name)(PooledFile*, const char*, std::size_t, DiskLibrary::Error**) = nullptr;
  int (*open)(DiskLibrary::Handle*, FilePool*, DiskLibrary::Error**) = nullptr;
};

bool load_pool_library(PoolLibrary& found) {
  return core::LoadedLibrary{"libbfio.so.1", "libbfio_"}
             .find("pool_initialize", found.initialize_pool)
             .find("pool_free", found.free_pool)
             .find("pool_append_handle", found.append)
             .find("file_initialize", found.initialize_file)
             .find("handle_free", found.free_file)
             .find("file_set_name", found.set_name)
             .is_complete() &&
         core::LoadedLibrary{"libvmdk.so.1"}
             .find("libvmdk_handle_open_extent_data_files_file_io_pool", found.open)
             .is_complete();
}

}  // namespace

std::shared_ptr<void> open_own_extent(DiskLibrary::Handle* handle, const std::string& path) {
  PoolLibrary library;
  if (!load_pool_library(library)) return nullptr;
  constexpr int no_limit = 0;  // with one, the library loses the file that it has open
  FilePool* created = nullptr;
  if (library.initialize_pool(&created, 0, no_limit, nullptr) != 1) return nullptr;
  const std::shared_ptr<void> pool{created, [free = library.free_pool](void* owned) {
                                     auto* last = static_cast<FilePool*>(owned);
                                     free(&last, nullptr);
                                   }};
  PooledFile* file = nullptr;
  if (library.initialize_file(&file, nullptr) != 1) return nullptr;
  int entry = 0;
  if (library.set_name(file, path.c_str(), path.size(), nullptr) != 1 ||
      library.append(created, &entry, file, DiskLibrary::open_for_reading, nullptr) != 1) {
    library.free_file(&file, nullptr);
    return nullptr;
  }
  return library.open(handle, created, nullptr) == 1 ? pool : nullptr;
}

}  // namespace coldtrace::ntfs
