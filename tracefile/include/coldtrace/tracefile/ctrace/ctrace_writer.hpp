#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_header.hpp"

namespace coldtrace::tracefile {

// The data of one entry, field by field, as the schema lays it out.
class CtraceData {
 public:
  explicit CtraceData(unsigned pointer_size = 8) : pointer_size_{pointer_size} {}

  // Little-endian. A word has the size of a pointer; counted texts and bytes are preceded by a u16
  // with their size in bytes; a text of fixed size is cut or filled with zeros.
  CtraceData& u8(coldtrace::u8 number) { return integer(number, 1); }
  CtraceData& u16(coldtrace::u16 number) { return integer(number, 2); }
  CtraceData& u32(coldtrace::u32 number) { return integer(number, 4); }
  CtraceData& u64(coldtrace::u64 number) { return integer(number, 8); }
  CtraceData& word(coldtrace::u64 number) { return integer(number, pointer_size_); }
  CtraceData& bytes(core::ByteView bytes);
  CtraceData& ansi(std::string_view text);  // with its NUL
  CtraceData& fixed_ansi(std::string_view text, std::size_t size);
  CtraceData& utf16(std::string_view utf8);  // with its NUL
  CtraceData& counted_utf16(std::string_view utf8);
  CtraceData& counted_bytes(core::ByteView bytes);

  [[nodiscard]] core::ByteView view() const { return bytes_; }

 private:
  CtraceData& integer(coldtrace::u64 number, unsigned size);

  unsigned pointer_size_;
  std::vector<std::byte> bytes_;
};

// Writes a .ctrace file with the C writer of drivers, <coldtrace/trace_writer.h>, at times that the
// caller sets: the file depends only on what this is told.
class CtraceWriter {
 public:
  struct Options {
    CtraceHeader header{};  // `size`, `minor_version` and computed members are ignored
    u32 buffer_size = 16384;
    u32 buffers = 2;  // of each processor
  };
  using Sink = std::function<void(core::ByteView)>;

  CtraceWriter(const Options& options, Sink sink);
  CtraceWriter(const CtraceWriter&) = delete;
  CtraceWriter& operator=(const CtraceWriter&) = delete;
  ~CtraceWriter();

  // What the clocks of all processors say from now on.
  void set_time(u64 cycles, core::FileTime time);

  // False if there was no room.
  bool write(u16 processor, u16 type, u8 version, core::ByteView data);
  // Leaves an entry that is reserved and never committed.
  bool reserve(u16 processor, u16 type, u8 version, core::ByteView data);

  // Writes out the buffers that are full.
  void write_full() { drain(false); }
  // Closes the buffers in use, with `even_if_empty` also those without an entry, and writes out all
  // that are complete.
  void flush(bool even_if_empty = false);
  // Writes all buffers as they are; nothing can be written after that.
  void end(bool closed = true);

 private:
  struct Machine;
  void drain(bool force);

  Sink sink_;
  std::unique_ptr<Machine> machine_;
};

}  // namespace coldtrace::tracefile
