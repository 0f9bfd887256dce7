#pragma once

#include <cstdint>

#include <libewf.h>
#include <sys/types.h>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::ntfs {

// What libewf reads files with, as declared by libbfio 20170123. Its handles are given the
// functions of PatchedSegment.
struct Libbfio {
  struct Handle;
  struct Pool;
  using Error = libewf_error_t;

  int (*handle_initialize)(Handle**, std::intptr_t*, int (*free)(std::intptr_t**, Error**),
                           int (*clone)(std::intptr_t**, std::intptr_t*, Error**),
                           int (*open)(std::intptr_t*, int, Error**),
                           int (*close)(std::intptr_t*, Error**),
                           ssize_t (*read)(std::intptr_t*, u8*, std::size_t, Error**),
                           ssize_t (*write)(std::intptr_t*, const u8*, std::size_t, Error**),
                           off64_t (*seek)(std::intptr_t*, off64_t, int, Error**),
                           int (*exists)(std::intptr_t*, Error**),
                           int (*is_open)(std::intptr_t*, Error**),
                           int (*get_size)(std::intptr_t*, size64_t*, Error**), u8 flags,
                           Error**) = nullptr;
  int (*handle_free)(Handle**, Error**) = nullptr;
  int (*pool_initialize)(Pool**, int handles, int most_open, Error**) = nullptr;
  int (*pool_free)(Pool**, Error**) = nullptr;
  int (*pool_append_handle)(Pool*, int* entry, Handle*, int access, Error**) = nullptr;
  int (*handle_open_file_io_pool)(libewf_handle_t*, Pool*, int access, Error**) = nullptr;
};

// libewf's functions, loaded with the first E01 image: linking to it would double the start time of
// every program.
struct Libewf {
  decltype(&libewf_glob) glob;
  decltype(&libewf_glob_free) glob_free;
  decltype(&libewf_handle_initialize) handle_initialize;
  decltype(&libewf_handle_free) handle_free;
  decltype(&libewf_handle_open) handle_open;
  decltype(&libewf_handle_close) handle_close;
  decltype(&libewf_handle_get_media_size) handle_get_media_size;
  decltype(&libewf_handle_get_chunk_size) handle_get_chunk_size;
  decltype(&libewf_handle_get_bytes_per_sector) handle_get_bytes_per_sector;
  decltype(&libewf_handle_read_random) handle_read_random;
  decltype(&libewf_handle_set_read_zero_chunk_on_error) handle_set_read_zero_chunk_on_error;
  decltype(&libewf_handle_get_number_of_checksum_errors) handle_get_number_of_checksum_errors;
  decltype(&libewf_handle_get_checksum_error) handle_get_checksum_error;
  decltype(&libewf_handle_get_number_of_acquiry_errors) handle_get_number_of_acquiry_errors;
  decltype(&libewf_handle_get_acquiry_error) handle_get_acquiry_error;
  decltype(&libewf_handle_get_utf8_hash_value) handle_get_utf8_hash_value;
  // Null functions if this libewf cannot read through a caller's functions.
  Libbfio bfio;
};

// Null if libewf is not installed.
const Libewf* libewf();

}  // namespace coldtrace::ntfs
