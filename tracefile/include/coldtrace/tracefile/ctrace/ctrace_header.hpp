#pragma once

#include <array>
#include <optional>
#include <string>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/tracefile/events/clock.hpp"
#include "coldtrace/tracefile/names/traced_image.hpp"

namespace coldtrace::tracefile {

// The header of a .ctrace file. Source: docs/formats/trace-format.md.
struct CtraceHeader {
  static constexpr std::size_t size_on_disk = 384;  // before the schema text
  static constexpr u32 boot_trace = 1;              // bits of flags
  static constexpr u32 wrap_around = 2;

  u16 minor_version;
  u32 size;
  u32 flags;
  u8 pointer_size;
  ClockType clock;
  u32 processors;
  u64 frequency;
  core::FileTime start_time;
  core::FileTime boot_time;
  core::Guid session;
  u32 boot_id;
  u32 time_resolution;  // 100 ns; 0 is not known
  std::array<u32, 3> windows_version;
  TracedImage kernel;
  TracedImage ntdll;
  std::string schema_text;
};

// By its first bytes.
[[nodiscard]] bool is_ctrace(const core::ImageSource& source);

// Why is_ctrace() is false for a file whose header is valid in all fields but the magic; else
// nothing.
[[nodiscard]] std::optional<core::ParseError> find_damaged_ctrace_magic(
    const core::ImageSource& source);

// Fails if the header is incomplete: without it nothing can be decoded.
core::Result<CtraceHeader> read_ctrace_header(const core::ImageSource& source);

}  // namespace coldtrace::tracefile
