// Eight threads on four processors, each interrupted by signals that log as well, while one thread
// flushes: nothing committed is lost or torn, and what was lost was counted. It reads the buffers
// with its own few lines, not with the library. Built a second time with ThreadSanitizer, which
// holds signals back until a thread may take them.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <coldtrace/trace_writer.h>
#include <pthread.h>
#include <signal.h>

namespace {

constexpr unsigned threads = 8;
constexpr unsigned processors = 4;
constexpr std::uint32_t buffer_size = 16384;

struct Processor {
  coldtrace_processor state;
  std::array<coldtrace_buffer, 4> buffers;
  std::unique_ptr<std::uint64_t[]> memory;
};

std::array<Processor, processors> machine;
std::atomic<std::uint64_t> written[threads][2], refused[threads][2];
thread_local unsigned self;

void fail(const char* what) {
  std::fflush(stdout);
  std::fprintf(stderr, "failed: %s\n", what);
  std::_Exit(1);
}

std::uint32_t load32(const std::uint8_t* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The data: who, a number of its own, and bytes that follow from both.
void log_event(bool interrupt) {
  const auto number =
      static_cast<std::uint32_t>(written[self][interrupt].load() + refused[self][interrupt].load());
  const std::uint32_t length = 8 + (number * 7 + self) % 90;
  auto& processor = machine[(self + number / 64) % processors].state;
  coldtrace_entry entry;
  auto* data = static_cast<std::uint8_t*>(
      coldtrace_reserve(&processor, static_cast<coldtrace_u16>(self), interrupt, length, &entry));
  if (data == nullptr) {
    ++refused[self][interrupt];
    if (!interrupt) std::this_thread::yield();
    return;
  }
  std::memcpy(data, &number, 4);
  std::memcpy(data + 4, &self, 4);
  for (std::uint32_t i = 8; i < length; ++i) data[i] = static_cast<std::uint8_t>(number + i);
  coldtrace_commit(&entry);
  ++written[self][interrupt];
}

void on_signal(int) {
  log_event(true);
}

struct Reader {
  std::map<std::pair<unsigned, unsigned>, std::vector<bool>> seen;
  std::uint64_t events = 0, lost = 0, buffers = 0;
  std::array<std::uint32_t, processors> next_sequence{};
  std::array<std::uint64_t, processors> last_stamp{};

  void read(const coldtrace_chunk& chunk, unsigned processor, bool wrap) {
    std::vector<std::uint8_t> bytes(chunk.bytes, chunk.bytes + chunk.size);
    const auto crc = load32(&bytes[8]);
    std::memset(&bytes[8], 0, 4);
    if (coldtrace_crc32c(0, bytes.data(), chunk.size) != crc) fail("CRC");
    if (load32(&bytes[12]) + 64 != chunk.size || load32(&bytes[28]) != 0) fail("length");
    const auto sequence = load32(&bytes[20]);
    if (wrap ? sequence < next_sequence[processor] : sequence != next_sequence[processor])
      fail("sequence");
    next_sequence[processor] = sequence + 1;
    lost += load32(&bytes[24]);
    ++buffers;
    for (std::uint32_t at = 64; at < chunk.size;) {
      std::uint64_t stamp;
      std::memcpy(&stamp, &bytes[at], 8);
      if (stamp < last_stamp[processor]) fail("stamps descend");
      last_stamp[processor] = stamp;
      const auto word = load32(&bytes[at + 8]);
      if (word >> 24 != (0x80U | (sequence & 0x3fU))) fail("state");
      const auto length = load32(&bytes[at + 12]);
      if (length > chunk.size - at - 16) fail("entry length");
      const auto* data = &bytes[at + 16];
      const auto number = load32(data);
      const auto thread = load32(data + 4);
      const auto interrupt = word >> 16 & 0xffU;
      if (thread != (word & 0xffffU) || length != 8 + (number * 7 + thread) % 90) fail("data");
      for (std::uint32_t i = 8; i < length; ++i)
        if (data[i] != static_cast<std::uint8_t>(number + i)) fail("torn data");
      auto& numbers = seen[{thread, interrupt}];
      if (numbers.size() <= number) numbers.resize(number + std::size_t{1});
      if (numbers[number]) fail("an event twice");
      numbers[number] = true;
      ++events;
      at += 16 + (length + 7) / 8 * 8;
    }
  }
};

// One counter for all, so that stamps ascend across threads on one processor.
std::atomic<std::uint64_t> clock_ticks;
coldtrace_u64 tick(void*) {
  return ++clock_ticks;
}

void flush(Reader& reader, bool wrap) {
  coldtrace_chunk chunk;
  for (unsigned i = 0; i < processors; ++i)
    while (coldtrace_take(&machine[i].state, 0, &chunk) == COLDTRACE_TAKEN) {
      reader.read(chunk, i, wrap);
      if (!coldtrace_release(&machine[i].state, &chunk)) fail("release");
    }
}

void run(unsigned events, bool wrap) {
  const coldtrace_clock clock{tick, tick, nullptr};
  for (unsigned i = 0; i < processors; ++i) {
    auto& processor = machine[i];
    const std::size_t words = processor.buffers.size() * buffer_size / 8;
    processor.memory = std::make_unique<std::uint64_t[]>(words);
    if (!coldtrace_start(&processor.state, static_cast<coldtrace_u16>(i), processor.buffers.data(),
                         reinterpret_cast<coldtrace_u8*>(processor.memory.get()), 4, buffer_size,
                         wrap ? COLDTRACE_WRAP : 0, &clock))
      fail("start");
  }
  for (auto& row : written)
    for (auto& count : row) count = 0;
  for (auto& row : refused)
    for (auto& count : row) count = 0;

  Reader reader;
  std::atomic<unsigned> running{threads};
  std::atomic<bool> leave{false};
  // An interrupt before a thread has its number would log as thread 0.
  std::latch numbered{threads};
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i)
    workers.emplace_back([&, i] {
      self = i;
      numbered.count_down();
      // The thread that sends interrupts may get a processor late.
      for (unsigned n = 0; n < events || (written[i][1] == 0 && n < 1000 * events); ++n) {
        log_event(false);
        if (n % 1024 == 0) std::this_thread::yield();
      }
      --running;
      // Alive until no signal is sent any more.
      while (!leave) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    });
  std::thread interrupts{[&] {
    numbered.wait();
    while (running > 0)
      for (auto& worker : workers) pthread_kill(worker.native_handle(), SIGUSR1);
    leave = true;
  }};
  while (running > 0) {
    flush(reader, wrap);
    for (auto& processor : machine) coldtrace_close(&processor.state, 0);
  }
  interrupts.join();
  for (auto& worker : workers) worker.join();
  flush(reader, wrap);
  coldtrace_chunk chunk;
  for (unsigned i = 0; i < processors; ++i)
    while (coldtrace_take(&machine[i].state, 1, &chunk) == COLDTRACE_TAKEN)
      reader.read(chunk, i, wrap);

  std::uint64_t all = 0, lost = 0, in_interrupts = 0;
  for (unsigned i = 0; i < threads; ++i) {
    all += written[i][0] + written[i][1];
    lost += refused[i][0] + refused[i][1];
    in_interrupts += written[i][1];
  }
  std::printf(
      "%s: %llu events written, %llu of them in interrupts, %llu refused; %llu read in %llu"
      " buffers\n",
      wrap ? "wrap-around" : "flushed", static_cast<unsigned long long>(all),
      static_cast<unsigned long long>(in_interrupts), static_cast<unsigned long long>(lost),
      static_cast<unsigned long long>(reader.events),
      static_cast<unsigned long long>(reader.buffers));
  if (wrap ? reader.events > all : reader.events != all) fail("number of events");
  if (reader.lost != lost) fail("number of lost events");
  if (in_interrupts == 0) fail("no interrupt logged");
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned events = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 200'000;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  run(events, false);
  run(events, true);
  return 0;
}
