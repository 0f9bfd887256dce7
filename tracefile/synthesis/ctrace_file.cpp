#include "tracefile/synthesis/ctrace_file.hpp"

#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/schema-language/built_in_schemas.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

constexpr u64 ticks_of_a_second = 10'000'000;
constexpr u64 cycles_per_tick = 300;
constexpr u64 flush_interval = ticks_of_a_second;
constexpr u64 up_time = 3'600 * ticks_of_a_second;  // when the trace began

// A buffer's header. Source: docs/formats/trace-format.md.
constexpr std::size_t buffer_header_size = 64;
constexpr u64 buffer_signature = 0x5245464655425443;  // "CTBUFFER"
constexpr std::size_t processor_at = 16;
constexpr std::size_t sequence_at = 20;

CtraceWriter::Options options_of(const CtraceFileOptions& options,
                                 const ScenarioOptions& scenario) {
  CtraceWriter::Options made;
  auto& header = made.header;
  header.flags = (options.boot ? CtraceHeader::boot_trace : 0) |
                 (options.wrap_around ? CtraceHeader::wrap_around : 0);
  header.pointer_size = 8;
  header.clock = ClockType::cpu_cycles;
  header.processors = options.processors;
  header.frequency = cycles_per_tick * ticks_of_a_second;
  header.start_time = {CtraceFile::start};
  header.boot_time = {CtraceFile::start - (options.boot ? 0 : up_time)};
  for (std::size_t i = 0; i < header.session.bytes.size(); ++i)
    header.session.bytes[i] = static_cast<std::byte>(scenario.seed >> 8 * (i % 8));
  header.time_resolution = 1;
  header.windows_version = {5, 2, 3790};
  header.ntdll = scenario.ntdll;
  for (const auto name : options.schemas)
    for (const auto& schema : built_in_schemas())
      if (schema.name == name) header.schema_text += schema.text;
  made.buffers = options.buffers;
  made.buffer_size = options.buffer_size;
  return made;
}

}  // namespace

CtraceFile::CtraceFile(const CtraceFileOptions& options, const ScenarioOptions& scenario,
                       const CtraceWriter::Sink& sink)
    : writer_{options_of(options, scenario), filter(sink)},
      keeps_buffers_{options.boot || options.wrap_around} {
  set_time(0);
  // The first pair of each clock; one that is overwritten would leave a gap behind it.
  if (!options.wrap_around) writer_.flush(true);
}

CtraceWriter::Sink CtraceFile::filter(const CtraceWriter::Sink& sink) {
  return [this, sink](core::ByteView bytes) {
    if (!losing_.empty() && bytes.size() >= buffer_header_size &&
        losing_.count(core::load<u16>(bytes, processor_at).value_or(0)) != 0)
      return;
    note_first(bytes);
    sink(bytes);
  };
}

// An entry begins with its stamp.
void CtraceFile::note_first(core::ByteView bytes) {
  if (core::load<u64>(bytes, 0) != buffer_signature) return;
  const auto processor = core::load<u16>(bytes, processor_at).value_or(0);
  const auto stamp = core::load<u64>(bytes, buffer_header_size);
  if (begun_.insert(processor).second && core::load<u32>(bytes, sequence_at) != 0U && stamp)
    begins_late_[processor] = *stamp / cycles_per_tick;
}

void CtraceFile::set_time(u64 time) {
  writer_.set_time(time * cycles_per_tick, {start + time});
}

void CtraceFile::write(u64 time, u16 processor, u16 type, const CtraceData& data) {
  set_time(time);
  writer_.write(processor, type, 0, data.view());
  if (!keeps_buffers_) drain(time);
}

void CtraceFile::drain(u64 time) {
  writer_.write_full();
  if (time - flushed_ < flush_interval) return;
  writer_.flush();
  flushed_ = time;
}

void CtraceFile::loss_begins(u64 time, u16 processor) {
  set_time(time);
  writer_.flush();
  losing_.insert(processor);
}

void CtraceFile::loss_ends(u64 time, u16 processor) {
  set_time(time);
  writer_.flush();
  losing_.erase(processor);
}

void CtraceFile::end(u64 time) {
  set_time(time);
  writer_.end();
}

}  // namespace coldtrace::tracefile::synthesis
