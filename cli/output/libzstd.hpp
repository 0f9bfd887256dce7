#pragma once

#include <cstddef>

namespace coldtrace::cli {

// The parts of libzstd that are used, all in the stable API of zstd.h 1.4.0 and later. It is loaded
// by the first output or file that needs it, so that other runs do not pay for it.
struct Libzstd {
  struct Packer;
  struct Unpacker;
  struct Input {  // ZSTD_inBuffer
    const void* bytes;
    std::size_t size;
    std::size_t position;
  };
  struct Output {  // ZSTD_outBuffer
    void* bytes;
    std::size_t size;
    std::size_t position;
  };
  // Of ZSTD_cParameter.
  static constexpr int level = 100;
  static constexpr int checksum = 201;
  static constexpr int threads = 400;
  static constexpr int job_size = 401;
  // Of ZSTD_EndDirective.
  static constexpr int go_on = 0;
  static constexpr int end = 2;

  Packer* (*create_packer)() = nullptr;
  std::size_t (*free_packer)(Packer*) = nullptr;
  std::size_t (*set)(Packer*, int parameter, int value) = nullptr;
  std::size_t (*pack)(Packer*, Output*, Input*, int directive) = nullptr;
  Unpacker* (*create_unpacker)() = nullptr;
  std::size_t (*free_unpacker)(Unpacker*) = nullptr;
  std::size_t (*unpack)(Unpacker*, Output*, Input*) = nullptr;
  unsigned (*is_error)(std::size_t) = nullptr;
  const char* (*error_name)(std::size_t) = nullptr;
};

// Null if it is not installed, or older.
const Libzstd* libzstd();

}  // namespace coldtrace::cli
