#include "ntfs/disk/libewf.hpp"

#include <bit>

#include <dlfcn.h>

namespace coldtrace::ntfs {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = std::bit_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

void find_libbfio(void* library, Libbfio& bfio) {
  const bool complete =
      find(library, "libbfio_handle_initialize", bfio.handle_initialize) &&
      find(library, "libbfio_handle_free", bfio.handle_free) &&
      find(library, "libbfio_pool_initialize", bfio.pool_initialize) &&
      find(library, "libbfio_pool_free", bfio.pool_free) &&
      find(library, "libbfio_pool_append_handle", bfio.pool_append_handle) &&
      find(library, "libewf_handle_open_file_io_pool", bfio.handle_open_file_io_pool);
  if (!complete) bfio = {};
}

}  // namespace

const Libewf* libewf() {
  static const Libewf* loaded = []() -> const Libewf* {
    void* library = ::dlopen(LIBEWF_SONAME, RTLD_NOW | RTLD_LOCAL);
    static Libewf functions{};
    const auto complete =
        library != nullptr && find(library, "libewf_glob", functions.glob) &&
        find(library, "libewf_glob_free", functions.glob_free) &&
        find(library, "libewf_handle_initialize", functions.handle_initialize) &&
        find(library, "libewf_handle_free", functions.handle_free) &&
        find(library, "libewf_handle_open", functions.handle_open) &&
        find(library, "libewf_handle_close", functions.handle_close) &&
        find(library, "libewf_handle_get_media_size", functions.handle_get_media_size) &&
        find(library, "libewf_handle_get_chunk_size", functions.handle_get_chunk_size) &&
        find(library, "libewf_handle_get_bytes_per_sector",
             functions.handle_get_bytes_per_sector) &&
        find(library, "libewf_handle_read_random", functions.handle_read_random) &&
        find(library, "libewf_handle_set_read_zero_chunk_on_error",
             functions.handle_set_read_zero_chunk_on_error) &&
        find(library, "libewf_handle_get_number_of_checksum_errors",
             functions.handle_get_number_of_checksum_errors) &&
        find(library, "libewf_handle_get_checksum_error", functions.handle_get_checksum_error) &&
        find(library, "libewf_handle_get_number_of_acquiry_errors",
             functions.handle_get_number_of_acquiry_errors) &&
        find(library, "libewf_handle_get_acquiry_error", functions.handle_get_acquiry_error) &&
        find(library, "libewf_handle_get_md5_hash", functions.handle_get_md5_hash) &&
        find(library, "libewf_handle_get_sha1_hash", functions.handle_get_sha1_hash);
    if (complete) find_libbfio(library, functions.bfio);
    return complete ? &functions : nullptr;
  }();
  return loaded;
}

}  // namespace coldtrace::ntfs
