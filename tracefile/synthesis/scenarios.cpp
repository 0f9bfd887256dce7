#include "coldtrace/tracefile/scenarios.hpp"

#include <algorithm>

#include "tracefile/synthesis/simulation.hpp"

namespace coldtrace::tracefile {
namespace {

using Thread = Simulation::Thread;
using Sink = CtraceWriter::Sink;

// Values of wmk.schema.
constexpr u8 mutant = 2;
constexpr u8 semaphore = 5;
constexpr u8 thread_object = 6;
constexpr u8 ready = 1;
constexpr u8 waiting = 5;
constexpr u8 user_request = 6;
constexpr u8 quantum_end = 30;

constexpr Thread idle{0, 0, 0};
constexpr Thread shell{1200, 1204, 0xffff'fa80'0012'd000};
constexpr u64 first_mutant = 0xffff'fa80'0100'0000;

u32 rounds_of(const ScenarioOptions& options, u32 usual) {
  return options.rounds == 0 ? usual : options.rounds;
}

// A thread takes what it waits for at once.
void acquire(Simulation& machine, const Thread& thread, u64 object, u8 type) {
  machine.wait(thread, object, type);
  machine.pass(1);
  machine.satisfy(thread, object, type);
}

// The main thread waits for both; they share a mutant and two semaphores.
void producer_consumer(const ScenarioOptions& options, const Sink& sink) {
  Simulation machine{{"wmk"}, 0, options, sink};
  const auto main = machine.create_process(shell, 2000, "prodcons.exe");
  const auto producer = machine.create_thread(main, 2000, 2008);
  const auto consumer = machine.create_thread(main, 2000, 2012);
  constexpr u64 lock = first_mutant;
  constexpr u64 free_slots = first_mutant + 0x1000;
  constexpr u64 full_slots = first_mutant + 0x2000;
  machine.wait(main, producer.object, thread_object);
  machine.wait(main, consumer.object, thread_object);
  machine.switch_to(main, producer, waiting, user_request);
  machine.on_processor(1);
  machine.switch_to(idle, consumer, ready, 0);
  for (u32 round = rounds_of(options, 20); round > 0; --round) {
    machine.on_processor(0);
    acquire(machine, producer, free_slots, semaphore);
    acquire(machine, producer, lock, mutant);
    machine.on_processor(1);
    machine.wait(consumer, full_slots, semaphore);
    machine.switch_to(consumer, idle, waiting, user_request);
    machine.pass(20);
    machine.satisfy(consumer, full_slots, semaphore);
    machine.switch_to(idle, consumer, ready, 0);
    acquire(machine, consumer, lock, mutant);
    machine.pass(50 + machine.random(200));
  }
  machine.end_thread(consumer);
  machine.satisfy(main, consumer.object, thread_object);
  machine.on_processor(0);
  machine.end_thread(producer);
  machine.satisfy(main, producer.object, thread_object);
  machine.switch_to(producer, main, 4, 0);
  machine.pass(10);
  machine.end_thread(main);
  machine.end();
}

// Each thread holds one mutant and waits for the next one's, in a circle.
void deadlock(u32 count, const ScenarioOptions& options, const Sink& sink) {
  Simulation machine{{"wmk"}, 0, options, sink};
  const auto main = machine.create_process(shell, 3000, "philosophers.exe");
  std::vector<Thread> threads;
  for (u32 i = 0; i < count; ++i)
    threads.push_back(machine.create_thread(main, 3000, 3008 + 4 * i));
  const auto object = [&](u32 i) { return first_mutant + (i % count) * u64{0x1000}; };
  for (u32 round = rounds_of(options, 5); round > 0; --round)
    for (u32 i = 0; i < count; ++i) {
      machine.on_processor(static_cast<u16>(machine.random(2)));
      acquire(machine, threads[i], object(i), mutant);
      acquire(machine, threads[i], object(i + 1), mutant);
      machine.pass(100);
      machine.switch_to(threads[i], threads[(i + 1) % count], ready, quantum_end);
    }
  for (u32 i = 0; i < count; ++i) acquire(machine, threads[i], object(i), mutant);
  for (u32 i = 0; i < count; ++i) {
    machine.on_processor(static_cast<u16>(i % 2));
    machine.wait(threads[i], object(i + 1), mutant);
    machine.switch_to(threads[i], idle, waiting, user_request);
    machine.pass(10);
  }
  machine.wait(main, threads[0].object, thread_object);
  machine.switch_to(main, idle, waiting, user_request);
  machine.end();
}

// Phase1Initialization starts the system's threads and the session manager, which starts the rest.
void boot(const ScenarioOptions& options, const Sink& sink) {
  Simulation machine{{"wmk"}, CtraceHeader::boot_trace, options, sink};
  const Thread phase1{4, 8, 0xffff'fa80'0000'2000};
  u32 next = 12;
  for (u32 i = rounds_of(options, 30); i > 0; --i, next += 4) {
    machine.on_processor(static_cast<u16>(machine.random(2)));
    const auto thread = machine.create_thread(phase1, 4, next);
    machine.pass(300);
    machine.switch_to(phase1, thread, ready, 0);
    machine.log(0x020b, CtraceData{}
                            .u32(4)
                            .u32(thread.thread)
                            .word(0xffff'f880'0000'0000 + machine.random(1 << 20) * 4096)
                            .word(0xffff'f800'0100'0000 + machine.random(1 << 16))
                            .u8(static_cast<u8>(machine.random(2)))
                            .u8(0)
                            .u32(0));
    machine.switch_to(thread, phase1, waiting, 15);
  }
  auto parent = machine.create_process(phase1, 264, "smss.exe");
  constexpr std::pair<std::string_view, bool> images[] = {
      {"csrss.exe", false},   {"winlogon.exe", true}, {"services.exe", false},
      {"lsass.exe", false},   {"svchost.exe", false}, {"svchost.exe", false},
      {"spoolsv.exe", false}, {"userinit.exe", true}, {"explorer.exe", true}};
  u32 process = 400;
  for (const auto& [image, starts_more] : images) {
    machine.on_processor(static_cast<u16>(machine.random(2)));
    const auto started = machine.create_process(parent, process, image);
    for (u32 i = 1; i < 4; ++i) machine.create_thread(started, process, process + 4 + 4 * i);
    machine.pass(20'000);
    if (starts_more) parent = started;
    process += 60;
  }
  machine.end();
}

// VTrace's question: how long the disk is idle, and what the user does meanwhile.
void disk_idle(const ScenarioOptions& options, const Sink& sink) {
  Simulation machine{{"vtrace"}, 0, options, sink};
  const std::array<std::byte, 12> sid = {std::byte{1}, std::byte{1}, {},           {},           {},
                                         {},           {},           std::byte{5}, std::byte{18}};
  machine.log(0x0101, CtraceData{}.u32(520).u32(400).utf16("notepad.exe"));
  machine.log(0x0123, CtraceData{}.counted_utf16("user").counted_utf16("HOME").bytes(sid));
  u64 idle_time = 1'000;
  for (u32 round = rounds_of(options, 12); round > 0; --round) {
    for (u64 i = 1 + machine.random(4); i > 0; --i) {
      const u64 irp = 0xffff'fa80'0200'0000 + machine.random(4096) * 0x200;
      const auto write = static_cast<u8>(3 + machine.random(2));
      const u64 offset = machine.random(1 << 20) * 4096;
      const auto length = static_cast<u32>(4096 * (1 + machine.random(16)));
      machine.log(0x0130, CtraceData{}
                              .u32(520)
                              .u32(524)
                              .word(irp)
                              .word(0xffff'fa80'0300'0000)
                              .u8(write)
                              .u8(0)
                              .u32(0x43)
                              .u64(offset % 65536)
                              .u32(length)
                              .counted_utf16(""));
      machine.pass(10);
      machine.log(0x0133, CtraceData{}.word(irp + 0x100).u32(0).u8(write).u64(offset).u32(length));
      machine.pass(4'000 + machine.random(8'000));
      machine.log(0x0134, CtraceData{}.word(irp + 0x100).u32(0).word(length));
      machine.log(0x0131, CtraceData{}.word(irp).u32(0).word(length));
    }
    std::array<std::byte, 8> key;
    for (auto& byte : key) byte = static_cast<std::byte>(machine.random(256));
    machine.pass(idle_time);
    machine.log(0x0120, CtraceData{}.u32(1).counted_bytes(key));
    machine.log(0x0112, CtraceData{}.u32(400).u32(408).u32(524).word(0x10'0042).u32(0x100).u8(1));
    idle_time *= 2;
  }
  machine.end();
}

// Calls of a few threads, as WMK's hook and as 19H1's callbacks see them.
void system_calls(const ScenarioOptions& options, const Sink& sink) {
  Simulation machine{{"wmk", "dynamic_tracing"}, 0, options, sink};
  const auto main = machine.create_process(shell, 4000, "mix.exe");
  std::vector<Thread> threads{main};
  for (u32 i = 1; i < 4; ++i) threads.push_back(machine.create_thread(main, 4000, 4004 + 4 * i));
  // Of the seed's debugger output: NtOpenKeyTransacted.
  constexpr u32 open_key_transacted = 0xb74a'2d8f;
  for (u32 round = rounds_of(options, 100); round > 0; --round) {
    const auto& thread = threads[machine.random(threads.size())];
    machine.on_processor(static_cast<u16>(machine.random(2)));
    if (machine.random(8) == 0) {
      const u64 result = machine.random(4) == 0 ? 0xc000'0034 : 0;
      machine.log(0x0401, CtraceData{}
                              .u32(thread.process)
                              .u32(thread.thread)
                              .u32(open_key_transacted)
                              .word(0xffff'f803'0dfe'2ac0)
                              .u8(4)
                              .u64(machine.random(1 << 16))
                              .u64(0x20019)
                              .u64(0x14'f000)
                              .u64(0));
      machine.pass(3);
      machine.log(
          0x0402,
          CtraceData{}.u32(thread.process).u32(thread.thread).u32(open_key_transacted).u64(result));
      continue;
    }
    const auto number = static_cast<u32>(machine.random(64));
    machine.log(0x0201, CtraceData{}.u32(thread.process).u32(thread.thread).u32(number));
    const auto count = static_cast<u8>(machine.random(5));
    CtraceData parameters;
    parameters.u32(thread.process).u32(thread.thread).u32(number).u8(count);
    for (u8 i = 0; i < count; ++i) parameters.word(machine.random(1 << 20));
    machine.log(0x0203, parameters);
    machine.pass(2 + machine.random(30));
    machine.log(0x0202, CtraceData{}
                            .u32(thread.process)
                            .u32(thread.thread)
                            .u32(number)
                            .u32(machine.random(16) == 0 ? 0xc000'0008 : 0));
  }
  machine.end();
}

}  // namespace

const std::array<Scenario, 6>& scenarios() {
  static constexpr std::array<Scenario, 6> all = {{
      {"producer-consumer",
       "two threads, a mutant, two semaphores, and a third that waits for both"},
      {"deadlock-2", "two threads, each with the mutant that the other one waits for"},
      {"deadlock-5", "five threads in a circle"},
      {"boot", "the first threads and processes of a system, traced before a disk exists"},
      {"disk-idle", "a disk between bursts of requests, and a user who types"},
      {"system-calls", "a mix of system calls of four threads"},
  }};
  return all;
}

bool synthesize(std::string_view name, const ScenarioOptions& options, const Sink& sink) {
  if (name == "producer-consumer")
    producer_consumer(options, sink);
  else if (name == "deadlock-2")
    deadlock(2, options, sink);
  else if (name == "deadlock-5")
    deadlock(5, options, sink);
  else if (name == "boot")
    boot(options, sink);
  else if (name == "disk-idle")
    disk_idle(options, sink);
  else if (name == "system-calls")
    system_calls(options, sink);
  else
    return false;
  return true;
}

}  // namespace coldtrace::tracefile
