#pragma once

#include <archive.h>
#include <archive_entry.h>

namespace coldtrace::tracefile {

// libarchive's functions, loaded with the first packed file: linking it would cost every start of
// every program as much as all else together.
struct Libarchive {
  decltype(&::archive_read_new) read_new;
  decltype(&::archive_read_free) read_free;
  decltype(&::archive_read_support_filter_xz) filter_xz;
  decltype(&::archive_read_support_filter_bzip2) filter_bzip2;
  decltype(&::archive_read_support_filter_zstd) filter_zstd;
  decltype(&::archive_read_support_filter_lz4) filter_lz4;
  decltype(&::archive_read_support_format_raw) format_raw;
  decltype(&::archive_read_support_format_zip) format_zip;
  decltype(&::archive_read_support_format_7zip) format_7zip;
  decltype(&::archive_read_support_format_cab) format_cab;
  decltype(&::archive_read_support_format_tar) format_tar;
  decltype(&::archive_read_set_read_callback) set_read_callback;
  decltype(&::archive_read_set_skip_callback) set_skip_callback;
  decltype(&::archive_read_set_seek_callback) set_seek_callback;
  decltype(&::archive_read_set_callback_data) set_callback_data;
  decltype(&::archive_read_open1) open;
  decltype(&::archive_read_next_header) next_header;
  decltype(&::archive_read_data_block) read_data_block;
  decltype(&::archive_read_has_encrypted_entries) has_encrypted_entries;
  decltype(&::archive_error_string) error_string;
  decltype(&::archive_entry_pathname) pathname;
  decltype(&::archive_entry_pathname_utf8) pathname_utf8;
  decltype(&::archive_entry_filetype) filetype;
  decltype(&::archive_entry_is_encrypted) is_encrypted;
};

// Null where libarchive is not installed.
const Libarchive* libarchive();

}  // namespace coldtrace::tracefile
