#include "ntfs/disk/libewf.hpp"

#include "coldtrace/core/loaded_library.hpp"

namespace coldtrace::ntfs {
namespace {

void find_libbfio(Libbfio& bfio) {
  const bool complete = core::LoadedLibrary{LIBEWF_SONAME}
                            .find("libbfio_handle_initialize", bfio.handle_initialize)
                            .find("libbfio_handle_free", bfio.handle_free)
                            .find("libbfio_pool_initialize", bfio.pool_initialize)
                            .find("libbfio_pool_free", bfio.pool_free)
                            .find("libbfio_pool_append_handle", bfio.pool_append_handle)
                            .find("libewf_handle_open_file_io_pool", bfio.handle_open_file_io_pool)
                            .is_complete();
  if (!complete) bfio = {};
}

}  // namespace

const Libewf* libewf() {
  static const Libewf* const loaded = []() -> const Libewf* {
    static Libewf functions{};
    const bool complete =
        core::LoadedLibrary{LIBEWF_SONAME, "libewf_"}
            .find("glob", functions.glob)
            .find("glob_free", functions.glob_free)
            .find("handle_initialize", functions.handle_initialize)
            .find("handle_free", functions.handle_free)
            .find("handle_open", functions.handle_open)
            .find("handle_close", functions.handle_close)
            .find("handle_get_media_size", functions.handle_get_media_size)
            .find("handle_get_chunk_size", functions.handle_get_chunk_size)
            .find("handle_get_bytes_per_sector", functions.handle_get_bytes_per_sector)
            .find("handle_read_random", functions.handle_read_random)
            .find("handle_set_read_zero_chunk_on_error",
                  functions.handle_set_read_zero_chunk_on_error)
            .find("handle_get_number_of_checksum_errors",
                  functions.handle_get_number_of_checksum_errors)
            .find("handle_get_checksum_error", functions.handle_get_checksum_error)
            .find("handle_get_number_of_acquiry_errors",
                  functions.handle_get_number_of_acquiry_errors)
            .find("handle_get_acquiry_error", functions.handle_get_acquiry_error)
            .find("handle_get_utf8_hash_value", functions.handle_get_utf8_hash_value)
            .is_complete();
    if (complete) find_libbfio(functions.bfio);
    return complete ? &functions : nullptr;
  }();
  return loaded;
}

}  // namespace coldtrace::ntfs
