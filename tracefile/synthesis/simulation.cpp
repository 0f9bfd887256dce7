#include "tracefile/synthesis/simulation.hpp"

#include "coldtrace/tracefile/built_in_schemas.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u64 flush_interval = 10'000'000;  // one second

// Ids of wmk.schema.
constexpr u16 context_switch = 0x0204;
constexpr u16 wait_begin = 0x0205;
constexpr u16 wait_satisfied = 0x0206;
constexpr u16 thread_end = 0x0207;
constexpr u16 thread_create = 0x0208;
constexpr u16 process_create = 0x0209;

constexpr u8 user_request = 6;  // KWAIT_REASON

}  // namespace

CtraceWriter::Options Simulation::options_of(std::initializer_list<std::string_view> schemas,
                                             u32 flags, const ScenarioOptions& options) {
  CtraceWriter::Options made;
  auto& header = made.header;
  header.flags = flags;
  header.pointer_size = 8;
  header.clock = ClockType::cpu_cycles;
  header.processors = 2;
  header.frequency = cycles_per_tick * 10'000'000;
  header.start_time = {start};
  header.boot_time = {start - (flags == 0 ? 3'600 * u64{10'000'000} : 0)};
  for (std::size_t i = 0; i < header.session.bytes.size(); ++i)
    header.session.bytes[i] = static_cast<std::byte>(options.seed >> 8 * (i % 8));
  header.time_resolution = 1;
  header.windows_version = {5, 2, 3790};
  header.ntdll = options.ntdll;
  for (const auto name : schemas)
    for (const auto& schema : built_in_schemas())
      if (schema.name == name) header.schema_text += schema.text;
  // A boot trace keeps everything until there is a disk.
  made.buffers = (flags & CtraceHeader::boot_trace) != 0 ? 32 : 2;
  return made;
}

Simulation::Simulation(std::initializer_list<std::string_view> schemas, u32 flags,
                       const ScenarioOptions& options, const CtraceWriter::Sink& sink)
    : writer_{options_of(schemas, flags, options), sink},
      state_{options.seed},
      has_disk_{(flags & CtraceHeader::boot_trace) == 0} {
  set_clock();
  writer_.flush(true);
}

void Simulation::set_clock() {
  writer_.set_time(time_ * cycles_per_tick, {start + time_});
}

// SplitMix64: the same everywhere, which the standard library's distributions are not.
u64 Simulation::random(u64 below) {
  state_ += 0x9e37'79b9'7f4a'7c15;
  u64 value = state_;
  value = (value ^ value >> 30) * 0xbf58'476d'1ce4'e5b9;
  value = (value ^ value >> 27) * 0x94d0'49bb'1331'11eb;
  return (value ^ value >> 31) % below;
}

void Simulation::pass(u64 microseconds) {
  time_ += microseconds * 10 + random(microseconds * 10 + 1);
  set_clock();
}

void Simulation::log(u16 type, const CtraceData& data) {
  writer_.write(processor_, type, 0, data.view());
  if (!has_disk_) return;
  writer_.write_full();
  if (time_ - flushed_ < flush_interval) return;
  writer_.flush();
  flushed_ = time_;
}

Simulation::Thread Simulation::create_thread(const Thread& creator, u32 process, u32 thread) {
  const Thread made{process, thread, 0xffff'fa80'0000'0000 + u64{thread} * 0x400};
  log(thread_create, CtraceData{}
                         .u32(creator.process)
                         .u32(creator.thread)
                         .u32(process)
                         .u32(thread)
                         .word(made.object)
                         .word(0x7ff6'0000'1000 + random(0x100) * 16));
  return made;
}

Simulation::Thread Simulation::create_process(const Thread& creator, u32 process,
                                              std::string_view image) {
  log(process_create,
      CtraceData{}.u32(creator.process).u32(creator.thread).u32(process).fixed_ansi(image, 16));
  pass(5);
  return create_thread(creator, process, process + 4);
}

void Simulation::end_thread(const Thread& thread) {
  log(thread_end, CtraceData{}.u32(thread.process).u32(thread.thread).u32(0));
}

void Simulation::switch_to(const Thread& from, const Thread& to, u8 state, u8 reason) {
  log(context_switch, CtraceData{}
                          .u32(from.process)
                          .u32(from.thread)
                          .u32(to.process)
                          .u32(to.thread)
                          .u8(state)
                          .u8(reason)
                          .u8(8)
                          .u8(9));
}

void Simulation::wait(const Thread& thread, u64 object, u8 object_type) {
  log(wait_begin, CtraceData{}
                      .u32(thread.process)
                      .u32(thread.thread)
                      .word(thread.object)
                      .word(object)
                      .u8(object_type)
                      .u8(user_request));
}

void Simulation::satisfy(const Thread& thread, u64 object, u8 object_type) {
  log(wait_satisfied, CtraceData{}
                          .u32(thread.process)
                          .u32(thread.thread)
                          .word(thread.object)
                          .word(object)
                          .u8(object_type)
                          .u32(0));
}

}  // namespace coldtrace::tracefile
