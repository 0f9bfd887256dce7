#include "tracefile/packing/libarchive.hpp"

#include <bit>

#include <dlfcn.h>

namespace coldtrace::tracefile {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = std::bit_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Libarchive& all) {
  return find(library, "archive_read_new", all.read_new) &&
         find(library, "archive_read_free", all.read_free) &&
         find(library, "archive_read_support_filter_xz", all.filter_xz) &&
         find(library, "archive_read_support_filter_bzip2", all.filter_bzip2) &&
         find(library, "archive_read_support_filter_zstd", all.filter_zstd) &&
         find(library, "archive_read_support_filter_lz4", all.filter_lz4) &&
         find(library, "archive_read_support_format_raw", all.format_raw) &&
         find(library, "archive_read_support_format_zip", all.format_zip) &&
         find(library, "archive_read_support_format_7zip", all.format_7zip) &&
         find(library, "archive_read_support_format_cab", all.format_cab) &&
         find(library, "archive_read_support_format_tar", all.format_tar) &&
         find(library, "archive_read_set_read_callback", all.set_read_callback) &&
         find(library, "archive_read_set_skip_callback", all.set_skip_callback) &&
         find(library, "archive_read_set_seek_callback", all.set_seek_callback) &&
         find(library, "archive_read_set_callback_data", all.set_callback_data) &&
         find(library, "archive_read_open1", all.open) &&
         find(library, "archive_read_next_header", all.next_header) &&
         find(library, "archive_read_data_block", all.read_data_block) &&
         find(library, "archive_read_has_encrypted_entries", all.has_encrypted_entries) &&
         find(library, "archive_error_string", all.error_string) &&
         find(library, "archive_entry_pathname", all.pathname) &&
         find(library, "archive_entry_pathname_utf8", all.pathname_utf8) &&
         find(library, "archive_entry_filetype", all.filetype) &&
         find(library, "archive_entry_is_encrypted", all.is_encrypted);
}

}  // namespace

const Libarchive* libarchive() {
  static const Libarchive* loaded = []() -> const Libarchive* {
    void* library = ::dlopen(LIBARCHIVE_SONAME, RTLD_NOW | RTLD_LOCAL);
    static Libarchive functions{};
    return library != nullptr && find_all(library, functions) ? &functions : nullptr;
  }();
  return loaded;
}

}  // namespace coldtrace::tracefile
