#include "coldtrace/tracefile/ctrace/ctrace_writer.hpp"

#include <algorithm>

#include <coldtrace/trace_writer.h>

#include "coldtrace/core/utf16.hpp"

namespace coldtrace::tracefile {
namespace {

struct Clocks {
  u64 cycles = 0;
  u64 file_time = 0;
};

coldtrace_u64 read_cycles(void* context) {
  return static_cast<const Clocks*>(context)->cycles;
}
coldtrace_u64 read_time(void* context) {
  return static_cast<const Clocks*>(context)->file_time;
}

coldtrace_u8* to_bytes(void* memory) {
  return static_cast<coldtrace_u8*>(memory);
}

coldtrace_image to_image(const TracedImage& image) {
  coldtrace_image made{};
  made.machine = image.machine;
  made.time_date_stamp = image.time_date_stamp;
  made.size_of_image = image.size_of_image;
  made.checksum = image.checksum;
  std::copy(image.file_version.begin(), image.file_version.end(), made.file_version);
  made.pdb_age = image.pdb_age;
  std::memcpy(made.pdb_guid, image.pdb_guid.bytes.data(), sizeof made.pdb_guid);
  made.name = image.name.c_str();
  made.pdb_name = image.pdb_name.c_str();
  return made;
}

core::ByteView view_of(const void* memory, std::size_t size) {
  return {static_cast<const std::byte*>(memory), size};
}

}  // namespace

CtraceData& CtraceData::integer(coldtrace::u64 number, unsigned size) {
  for (unsigned i = 0; i < size; ++i) bytes_.push_back(static_cast<std::byte>(number >> 8 * i));
  return *this;
}

CtraceData& CtraceData::bytes(core::ByteView bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

CtraceData& CtraceData::ansi(std::string_view text) {
  return bytes(std::as_bytes(std::span{text})).u8(0);
}

CtraceData& CtraceData::fixed_ansi(std::string_view text, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    u8(i < text.size() ? static_cast<coldtrace::u8>(text[i]) : 0);
  return *this;
}

CtraceData& CtraceData::utf16(std::string_view utf8) {
  const auto units = core::encode_utf16(utf8);
  return bytes(std::as_bytes(std::span{units})).u16(0);
}

CtraceData& CtraceData::counted_utf16(std::string_view utf8) {
  const auto units = core::encode_utf16(utf8);
  return counted_bytes(std::as_bytes(std::span{units}));
}

CtraceData& CtraceData::counted_bytes(core::ByteView bytes_of_it) {
  return u16(static_cast<coldtrace::u16>(bytes_of_it.size())).bytes(bytes_of_it);
}

struct CtraceWriter::Machine {
  Clocks clocks;
  std::vector<coldtrace_processor> processors;
  std::vector<coldtrace_buffer> buffers;
  std::vector<u64> memory;
};

CtraceWriter::CtraceWriter(const Options& options, Sink sink)
    : sink_{std::move(sink)}, machine_{std::make_unique<Machine>()} {
  const auto& header = options.header;
  coldtrace_file file{};
  file.flags = header.flags;
  file.pointer_size = header.pointer_size;
  file.clock = static_cast<u8>(header.clock);
  file.processors = header.processors;
  file.frequency = header.frequency;
  file.start_time = header.start_time.ticks;
  file.boot_time = header.boot_time.ticks;
  std::memcpy(file.session, header.session.bytes.data(), sizeof file.session);
  file.boot_id = header.boot_id;
  file.time_resolution = header.time_resolution;
  file.windows_major = header.windows_version[0];
  file.windows_minor = header.windows_version[1];
  file.windows_build = header.windows_version[2];
  file.kernel = to_image(header.kernel);
  file.ntdll = to_image(header.ntdll);
  const auto size = static_cast<u32>(header.schema_text.size());
  std::vector<std::byte> bytes(coldtrace_file_header_size(size));
  coldtrace_file_header(to_bytes(bytes.data()), &file, header.schema_text.data(), size);
  sink_(bytes);

  auto& machine = *machine_;
  const std::size_t words = std::size_t{options.buffer_size} / 8 * options.buffers;
  machine.processors.resize(header.processors);
  machine.buffers.resize(std::size_t{header.processors} * options.buffers);
  machine.memory.resize(header.processors * words);
  const coldtrace_clock clock{read_cycles, read_time, &machine.clocks};
  for (std::size_t i = 0; i < machine.processors.size(); ++i)
    coldtrace_start(&machine.processors[i], static_cast<u16>(i),
                    &machine.buffers[i * options.buffers],
                    to_bytes(static_cast<void*>(&machine.memory[i * words])), options.buffers,
                    options.buffer_size, header.flags & COLDTRACE_WRAP, &clock);
}

CtraceWriter::~CtraceWriter() = default;

void CtraceWriter::set_time(u64 cycles, core::FileTime time) {
  machine_->clocks = {cycles, time.ticks};
}

bool CtraceWriter::write(u16 processor, u16 type, u8 version, core::ByteView data) {
  return coldtrace_write(&machine_->processors[processor], type, version, data.data(),
                         static_cast<u32>(data.size())) != 0;
}

bool CtraceWriter::reserve(u16 processor, u16 type, u8 version, core::ByteView data) {
  coldtrace_entry entry;
  void* const room = coldtrace_reserve(&machine_->processors[processor], type, version,
                                       static_cast<u32>(data.size()), &entry);
  if (room == nullptr) return false;
  coldtrace_copy(to_bytes(room), data.data(), static_cast<u32>(data.size()));
  return true;
}

void CtraceWriter::drain(bool force) {
  coldtrace_chunk chunk;
  for (auto& processor : machine_->processors)
    while (coldtrace_take(&processor, force ? 1 : 0, &chunk) == COLDTRACE_TAKEN) {
      sink_(view_of(chunk.bytes, chunk.size));
      coldtrace_release(&processor, &chunk);
    }
}

void CtraceWriter::flush(bool even_if_empty) {
  drain(false);
  for (auto& processor : machine_->processors) coldtrace_close(&processor, even_if_empty ? 1 : 0);
  drain(false);
}

void CtraceWriter::end(bool closed) {
  drain(true);
  if (!closed) return;
  std::array<coldtrace_u8, COLDTRACE_BUFFER_HEADER_SIZE> bytes;
  coldtrace_file_end(bytes.data(), machine_->clocks.cycles, machine_->clocks.file_time);
  sink_(view_of(bytes.data(), bytes.size()));
}

}  // namespace coldtrace::tracefile
