#include "tracefile/packing/libarchive.hpp"

#include "coldtrace/core/loaded_library.hpp"

namespace coldtrace::tracefile {
const Libarchive* libarchive() {
  static const Libarchive* const loaded = []() -> const Libarchive* {
    static Libarchive all{};
    return core::LoadedLibrary{LIBARCHIVE_SONAME, "archive_"}
                   .find("read_new", all.read_new)
                   .find("read_free", all.read_free)
                   .find("read_support_filter_xz", all.filter_xz)
                   .find("read_support_filter_bzip2", all.filter_bzip2)
                   .find("read_support_filter_zstd", all.filter_zstd)
                   .find("read_support_filter_lz4", all.filter_lz4)
                   .find("read_support_format_raw", all.format_raw)
                   .find("read_support_format_zip", all.format_zip)
                   .find("read_support_format_7zip", all.format_7zip)
                   .find("read_support_format_cab", all.format_cab)
                   .find("read_support_format_tar", all.format_tar)
                   .find("read_set_read_callback", all.set_read_callback)
                   .find("read_set_skip_callback", all.set_skip_callback)
                   .find("read_set_seek_callback", all.set_seek_callback)
                   .find("read_set_callback_data", all.set_callback_data)
                   .find("read_open1", all.open)
                   .find("read_next_header", all.next_header)
                   .find("read_data_block", all.read_data_block)
                   .find("read_has_encrypted_entries", all.has_encrypted_entries)
                   .find("error_string", all.error_string)
                   .find("entry_pathname", all.pathname)
                   .find("entry_pathname_utf8", all.pathname_utf8)
                   .find("entry_filetype", all.filetype)
                   .find("entry_is_encrypted", all.is_encrypted)
                   .is_complete()
               ? &all
               : nullptr;
  }();
  return loaded;
}

}  // namespace coldtrace::tracefile
