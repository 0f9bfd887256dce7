#include <cstring>
#include <filesystem>
#include <limits>
#include <type_traits>

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/providers/extended_data.hpp"
#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

using fixtures::ByteWriter;
using fixtures::EtlBuffer;
using fixtures::EtlSession;

// Files that end with the statement are not kept.
using Files = std::vector<ScannedFile>;
static_assert(
    std::is_constructible_v<EventStream, const Files&, const NameTables&, const StreamOptions&>);
static_assert(
    !std::is_constructible_v<EventStream, Files, const NameTables&, const StreamOptions&>);

constexpr u16 context_switch_hook = 0x0524;
constexpr u16 process_start = 0x0301;
constexpr u16 thread_running = 0x0503;

std::vector<std::tuple<i64, u16, u64>> schedule(const Trace& trace,
                                                const StreamOptions& options = {}) {
  std::vector<std::tuple<i64, u16, u64>> events;
  for (const auto& held : all_events(trace, options))
    events.emplace_back(held.event.timestamp, held.event.cpu.value_or(99),
                        held.event.buffer_offset + held.event.offset);
  return events;
}

// Counts what is read of it.
class CountingImage final : public core::ImageSource {
 public:
  explicit CountingImage(core::ByteView bytes) : image_{bytes} {}

  u64 size() const override { return image_.size(); }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    read += destination.size();
    return image_.read_at(offset, destination);
  }

  mutable u64 read = 0;

 private:
  core::MemoryImage image_;
};

// Of which bytes behind `left` cannot be read any more, as of a file that became shorter.
class ShrinkingImage final : public core::ImageSource {
 public:
  explicit ShrinkingImage(core::ByteView bytes) : left{bytes.size()}, image_{bytes} {}

  u64 size() const override { return image_.size(); }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    if (offset + destination.size() > left)
      return core::fail(core::ParseError{core::Fault::io, offset, "file", "read", 0, 0});
    return image_.read_at(offset, destination);
  }

  mutable u64 left;

 private:
  core::MemoryImage image_;
};

// Cuts the temporary files that this process has open to nothing; returns their number. Those
// without a name are "/tmp/#1234 (deleted)" to Linux.
std::size_t empty_temporary_files() {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry.path(), error).string();
    if (target.find("/#") == std::string::npos && target.find("/coldtrace.") == std::string::npos)
      continue;
    std::filesystem::resize_file(entry.path(), 0, error);
    if (!error) ++files;
  }
  return files;
}

// Buffers of 64 KiB, one a processor, whose events take turns.
std::vector<EtlBuffer> interleaved_buffers(u16 processors) {
  std::vector<EtlBuffer> buffers;
  for (u16 cpu = 0; cpu < processors; ++cpu) {
    EtlBuffer buffer{cpu};
    for (int i = 0; i < 1600; ++i)
      buffer.system(ready_thread, 2, {1, 2, 1'000'000 + i * processors + cpu}, words({1, 2}));
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

}  // namespace

TEST_CASE("what overlaps more than memory allows is read again by little parts") {
  const auto compression =
      GENERATE(fixtures::EtlCompression::none, fixtures::EtlCompression::xpress);
  const auto bytes = fixtures::build_etl({.buffer_size = 65536, .compression = compression},
                                         interleaved_buffers(8));
  const CountingImage image{bytes};
  core::Findings findings;
  const auto trace = Trace::open(image, {}, findings);
  REQUIRE(trace);
  const auto wanted = schedule(*trace);
  REQUIRE(wanted.size() == 1 + 8 * 1600);
  for (const std::size_t room : {std::size_t{200'000}, std::size_t{40'000}}) {
    CAPTURE(room);
    image.read = 0;
    CHECK(schedule(*trace, {.largest_buffers = room}) == wanted);
    CHECK(image.read < 3 * bytes.size());
  }
  // Even where there is room for nothing an event costs no more than a window.
  image.read = 0;
  CHECK(schedule(*trace, {.largest_buffers = 1}) == wanted);
  CHECK(image.read < wanted.size() * 4096 + bytes.size());
}

TEST_CASE("a temporary file that cannot be read costs no event") {
  const auto bytes =
      fixtures::build_etl({.buffer_size = 65536, .compression = fixtures::EtlCompression::xpress},
                          interleaved_buffers(8));
  const auto open = open_bytes(bytes);
  auto stream = open.trace->stream({.largest_buffers = 200'000});
  u64 events = 0;
  for (; events < 3000; ++events) REQUIRE(stream.next() == EventStream::Item::event);
  REQUIRE(empty_temporary_files() == 1);
  while (stream.next() == EventStream::Item::event) ++events;
  CHECK(events == 1 + 8 * 1600);
  CHECK(stream.unread_buffers() == 0);
}

TEST_CASE("what can be read once and not again is a gap with its events") {
  const auto compression =
      GENERATE(fixtures::EtlCompression::none, fixtures::EtlCompression::xpress);
  const auto order = GENERATE(Order::time, Order::file);
  const auto bytes = fixtures::build_etl({.buffer_size = 65536, .compression = compression},
                                         interleaved_buffers(8));
  const ShrinkingImage image{bytes};
  core::Findings findings;
  const auto trace = Trace::open(image, {}, findings);
  REQUIRE(trace);
  auto stream = trace->stream({.order = order, .largest_buffers = 40'000});
  // In the order of time compressed buffers are soon in the temporary file.
  const u64 shrinks_at = compression == fixtures::EtlCompression::none ? 1500 : 1;
  u64 events = 0, lost = 0, gaps = 0;
  i64 latest = 0;
  for (auto item = stream.next(); item != EventStream::Item::end; item = stream.next()) {
    if (item == EventStream::Item::gap) {
      ++gaps;
      lost += stream.gap().events;
      CHECK(stream.gap().reason == Gap::Reason::unreadable);
      CHECK(stream.gap().offset + stream.gap().length <= bytes.size());
      if (order == Order::time) CHECK(stream.gap().timestamp >= latest);
    } else if (++events == shrinks_at) {
      image.left = bytes.size() / 2;
    }
    if (item == EventStream::Item::event && order == Order::time) latest = stream.event().timestamp;
  }
  CHECK(gaps > 0);
  CHECK(stream.unread_buffers() == gaps);
  CHECK(events < trace->events());
  CHECK(events + lost == trace->events());
}

TEST_CASE("a buffer that is damaged at many places is the same when it is read again") {
  auto buffers = interleaved_buffers(2);
  auto bytes = fixtures::build_etl({.buffer_size = 65536}, buffers);
  for (std::size_t i = 0; i < 80; ++i) std::memset(&bytes[65536 + 72 + (i * 20 + 3) * 40], 0, 8);
  const auto open = open_bytes(bytes);
  // What is behind the last of 64 places is lost.
  CHECK(open.trace->events() == 1 + 1600 + 63 * 19 + 3);
  CHECK(all_gaps(*open.trace).size() == 64);
  const auto wanted = schedule(*open.trace);
  CHECK(wanted.size() == open.trace->events());
  CHECK(schedule(*open.trace, {.largest_buffers = 1}) == wanted);
}

TEST_CASE("events of all processors come by time, whatever the compression") {
  const auto compression =
      GENERATE(fixtures::EtlCompression::none, fixtures::EtlCompression::xpress,
               fixtures::EtlCompression::xpress_huffman, fixtures::EtlCompression::lznt1);
  const auto open =
      open_bytes(fixtures::build_etl({.compression = compression}, overlapping_buffers(10)));
  CHECK(open.findings.empty());
  const auto events = schedule(*open.trace);
  REQUIRE(events.size() == 401);
  CHECK(std::is_sorted(events.begin(), events.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  }));
  CHECK(schedule(*open.trace, {.largest_buffers = 1}) == events);
}

TEST_CASE("reversed and duplicated buffers give the same events in the same order") {
  auto buffers = overlapping_buffers(6);
  const auto straight = open_bytes(fixtures::build_etl({}, buffers));
  std::reverse(buffers.begin(), buffers.end());
  const auto reversed = open_bytes(fixtures::build_etl({}, buffers));
  const auto times = [](const Trace& trace) {
    std::vector<std::pair<i64, u16>> all;
    for (const auto& [time, cpu, place] : schedule(trace)) all.emplace_back(time, cpu);
    return all;
  };
  CHECK(times(*straight.trace) == times(*reversed.trace));
  buffers.push_back(buffers.front());
  const auto doubled = open_bytes(fixtures::build_etl({}, buffers));
  CHECK(doubled.trace->events() == straight.trace->events() + 20);
  CHECK(all_events(*doubled.trace).size() == doubled.trace->events());
}

TEST_CASE("every type of trace header gives its fields") {
  const unsigned pointer_size = GENERATE(4U, 8U);
  const fixtures::EventIds ids{0x101, 0x202, 1'000'500};
  const ByteWriter payload = words({1, 2});
  EtlBuffer buffer{1, pointer_size};
  buffer.system(0x0532, 2, ids, payload)
      .compact(0x0532, 2, ids, payload)
      .perfinfo(0x0f34, 2, ids.time, payload, {10, 20, 30})
      .full(some_provider, 9, 3, ids, payload)
      .instance(some_provider, 9, ids, 71, 72, payload)
      .event(some_provider, 21, 1, ids, payload,
             {{1, std::vector<std::byte>(16, std::byte{7})},
              {6, std::vector<std::byte>(24, std::byte{1})}},
             28)
      .message(some_provider, 33, ids, payload)
      .error(payload);
  EtlSession session;
  session.pointer_size = pointer_size;
  const auto open = open_bytes(fixtures::build_etl(session, {buffer}));
  CHECK(open.findings.empty());
  const auto events = all_events(*open.trace);
  REQUIRE(events.size() == 9);
  for (std::size_t i = 1; i < 9; ++i) {
    const auto& event = events[i].event;
    CAPTURE(i);
    CHECK(event.cpu == u16{1});
    CHECK(event.timestamp == ids.time);
    CHECK(event.payload.size() == 8);
    CHECK(event.has_time == (i != 8));
    if (i != 3 && i != 8) {
      CHECK(event.tid == 0x101U);
      CHECK(event.pid == 0x202U);
    }
    if (i < 7) CHECK(event.pointer_size == pointer_size);
    if (i == 1 || i == 4 || i == 5 || i == 6) CHECK(event.kernel_time == 11U);
  }
  CHECK(core::to_string(events[1].event.provider) == "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c");
  const auto counters = header_counters(events[3].event);
  REQUIRE(counters.size() == 24);
  CHECK(core::load<u64>(counters, 8) == u64{20});
  CHECK_FALSE(events[3].event.tid);
  CHECK(events[4].event.provider == some_provider);
  CHECK(events[5].event.version == 0);
  const auto instance = find_instance(events[5].event);
  REQUIRE(instance);
  CHECK(instance->id == 71);
  CHECK(instance->parent_id == 72);
  CHECK(instance->parent == some_provider);
  const auto& manifest = events[6].event;
  CHECK(manifest.id == 21);
  CHECK(manifest.opcode == 28);
  CHECK(manifest.task == 7);
  CHECK(manifest.keywords == 0x8000000000000010);
  EventStack stack;
  read_stack(manifest, stack);
  CHECK(stack.frames == std::vector<u64>{0x0101010101010101, 0x0101010101010101});
  CHECK(find_extended(manifest, ExtendedType::related_activity));
  CHECK(events[7].event.id == 33);
  CHECK(events[7].event.event_class == EventClass::message);
  CHECK(find_message_header(events[7].event)->options == 0xaa);
}

TEST_CASE("each clock gives the time that its definition says") {
  struct Row {
    const char* why;
    u32 type;
    u64 frequency;
    i64 first, timestamp;
    i64 expected;  // ticks after the start of the session
  };
  const auto row = GENERATE(values<Row>({
      {"counter at 10 MHz", 1, 10'000'000, 1000, 2000, 1000},
      {"counter at 3 MHz, cut and not rounded", 1, 3'000'000, 0, 5, 16},
      {"before the header's event, towards zero", 1, 3'000'000, 100, 95, -16},
      {"a raw clock counts as a counter", 0, 10'000'000, 0, 7, 7},
      {"ten years at 3.5 GHz", 1, 3'500'000'000, 0, 1'103'760'000'000'000'000,
       3'153'600'000'000'000},
      {"cycles at 1000 MHz", 3, 0, 0, 1'000'000, 10'000},
      {"a counter without frequency is taken as 100 ns", 1, 0, 0, 9, 9},
  }));
  CAPTURE(row.why);
  const u64 start = 133'000'000'000'000'000;
  LogfileHeader header{};
  header.clock_type = row.type;
  header.performance_frequency = row.frequency;
  header.cpu_speed = 1000;
  header.start_time = {start};
  const auto clock = make_clock(header, row.first);
  const auto time = clock.to_file_time(row.timestamp);
  CHECK(static_cast<i64>(time.ticks - start) == row.expected);
  CHECK(clock.approximate() == (row.frequency == 0));
  const auto least = clock.first_timestamp_at(time);
  REQUIRE(least);
  CHECK(clock.to_file_time(*least).ticks >= time.ticks);
  CHECK(clock.to_file_time(*least - 1).ticks < time.ticks);
  const auto last = clock.last_timestamp_at(time);
  REQUIRE(last);
  CHECK(clock.to_file_time(*last).ticks <= time.ticks);
  CHECK(clock.to_file_time(*last + 1).ticks > time.ticks);
}

TEST_CASE("times that no timestamp of a clock reaches are before or behind all of them") {
  // 2^63 cycles at 3000 MHz are 97 years.
  const Clock clock{ClockType::cpu_cycles, {133'000'000'000'000'000}, 0, {3000, 10}};
  constexpr u64 century = u64{36525} * 864'000'000'000;
  const core::FileTime before{133'000'000'000'000'000 - century};
  const core::FileTime behind{133'000'000'000'000'000 + century};
  CHECK(clock.first_timestamp_at(before) == std::numeric_limits<i64>::min());
  CHECK_FALSE(clock.last_timestamp_at(before));
  CHECK_FALSE(clock.first_timestamp_at(behind));
  CHECK(clock.last_timestamp_at(behind) == std::numeric_limits<i64>::max());
}

TEST_CASE("system time needs no conversion") {
  const Clock clock{ClockType::system_time, {5}, 9, {1, 1}};
  CHECK(clock.to_file_time(133'000'000'000'000'001).ticks == 133'000'000'000'000'001);
  CHECK(clock.first_timestamp_at({77}) == 77);
}

TEST_CASE("events without thread get that of the context switches on their processor") {
  EtlBuffer names{0};
  names.system(process_start, 4, {1, 2, 1'000'010}, fixtures::process_payload(500, "first.exe"))
      .system(thread_running, 3, {1, 2, 1'000'011}, fixtures::thread_payload(500, 51))
      .system(thread_running, 3, {1, 2, 1'000'012}, fixtures::thread_payload(600, 61));
  EtlBuffer first{0};
  first.perfinfo(system_call, 2, 1'000'100, pointer(1))
      .perfinfo(context_switch_hook, 4, 1'000'200, fixtures::context_switch(51, 0))
      .perfinfo(system_call, 2, 1'000'300, pointer(2))
      .perfinfo(context_switch_hook, 4, 1'000'400, fixtures::context_switch(0, 51))
      .perfinfo(system_call, 2, 1'000'500, pointer(3));
  EtlBuffer second{1};
  second.perfinfo(context_switch_hook, 4, 1'000'250, fixtures::context_switch(61, 77))
      .perfinfo(system_call, 2, 1'000'350, pointer(4));
  const auto open = open_bytes(fixtures::build_etl({}, {names, first, second}));
  std::vector<std::pair<std::optional<u32>, std::optional<u32>>> threads;
  for (const auto& held : all_events(*open.trace))
    if (held.event.timestamp >= 1'000'100) threads.emplace_back(held.event.tid, held.event.pid);
  using Ids = std::pair<std::optional<u32>, std::optional<u32>>;
  CHECK(threads == std::vector<Ids>{{std::nullopt, std::nullopt},  // before any switch
                                    {0U, 0U},                      // the idle thread went out
                                    {77U, std::nullopt},           // a thread nobody described
                                    {51U, 500U},
                                    {61U, 600U},
                                    {51U, 500U},
                                    {0U, 0U}});
}

TEST_CASE("where processors share buffers the processor is unknown") {
  EtlBuffer buffer{0};
  buffer.event(some_provider, 1, 0, {1, 2, 1'000'001}, words({1}));
  EtlSession session;
  session.log_file_mode |= LogfileHeader::no_per_processor;
  const auto open = open_bytes(fixtures::build_etl(session, {buffer}));
  CHECK_FALSE(all_events(*open.trace).back().event.cpu);
}

TEST_CASE("the processor of Windows 7 is one byte beside the alignment") {
  EtlBuffer buffer{3};
  buffer.event(some_provider, 1, 0, {1, 2, 1'000'001}, words({1}));
  EtlSession session;
  session.processor_index = false;
  const auto open = open_bytes(fixtures::build_etl(session, {buffer}));
  CHECK(all_events(*open.trace).back().event.cpu == u16{3});
}

TEST_CASE("the number of jobs changes nothing that is found") {
  auto buffers = overlapping_buffers(100);
  for (u32 i = 0; i < 150; ++i)
    buffers[i].system(process_start, 4, {1, 2, 2'000'000 + i},
                      fixtures::process_payload(i % 7, i % 3 == 0 ? "a.exe" : "b.exe"));
  const auto bytes = fixtures::build_etl({}, buffers);
  const auto one = open_bytes(bytes, 1);
  const auto three = open_bytes(bytes, 3);
  CHECK(schedule(*one.trace) == schedule(*three.trace));
  CHECK(one.trace->names().entries() == three.trace->names().entries());
  for (u32 pid = 0; pid < 7; ++pid)
    for (i64 time = 2'000'000; time < 2'000'150; time += 3)
      REQUIRE(one.trace->names().find_process(pid, time) ==
              three.trace->names().find_process(pid, time));
  CHECK(one.trace->kinds().size() == three.trace->kinds().size());
}

TEST_CASE("the pointer size of a session that lies can be overridden") {
  EtlBuffer buffer{0, 4};
  buffer.perfinfo(system_call, 2, 1'000'001, pointer(0xfffff80012345678));
  const auto bytes = fixtures::build_etl({}, {buffer});
  const auto measure = [&](unsigned pointer_size) {
    const auto open = open_bytes(bytes, 1, pointer_size);
    EventDecoder decoder{open.trace->schemas()};
    const auto held = all_events(*open.trace).back();
    return decoder.measure(held.event, decoder.kind_of(held.event)).decoded;
  };
  CHECK(measure(0) == Decoded::trailing);
  CHECK(measure(8) == Decoded::exact);
}

TEST_CASE("only events of the wanted time come, and their buffers alone are opened") {
  const auto open = open_bytes(fixtures::build_etl({}, overlapping_buffers(10)));
  const auto all = schedule(*open.trace);
  const i64 first = std::get<0>(all[100]);
  const i64 last = std::get<0>(all[200]);
  const auto some = schedule(*open.trace, {.first = first, .last = last});
  std::vector<std::tuple<i64, u16, u64>> expected;
  for (const auto& event : all)
    if (std::get<0>(event) >= first && std::get<0>(event) <= last) expected.push_back(event);
  CHECK(some == expected);
}

}  // namespace coldtrace::tracefile
