#include <catch2/catch.hpp>

#include "core/text.hpp"
#include "tests/tracefile/trace_test.hpp"
#include "tracefile/extended_data.hpp"

namespace coldtrace::tracefile {
namespace {

using fixtures::ByteWriter;
using fixtures::EtlBuffer;
using fixtures::EtlSession;

constexpr auto provider = *core::parse_guid("12345678-9abc-def0-1234-56789abcdef0");
constexpr u16 context_switch_hook = 0x0524;
constexpr u16 ready_thread = 0x0532;
constexpr u16 system_call = 0x0f33;
constexpr u16 process_start = 0x0301;
constexpr u16 thread_running = 0x0503;

ByteWriter words(std::initializer_list<u64> values) {
  ByteWriter out;
  for (const auto value : values) out.write_u32(value);
  return out;
}

ByteWriter pointer(u64 value) {
  ByteWriter out;
  return out.write_u64(value);
}

// Two processors whose buffers overlap in time, as a live session writes them.
std::vector<EtlBuffer> overlapping_buffers(int rounds) {
  std::vector<EtlBuffer> buffers;
  i64 time = 1'000'100;
  for (int round = 0; round < rounds; ++round) {
    EtlBuffer first{0};
    EtlBuffer second{1};
    for (int i = 0; i < 20; ++i) {
      first.perfinfo(system_call, 2, time, pointer(0xfffff80000000000 + static_cast<u64>(time)));
      second.system(ready_thread, 2, {7, 8, time + (i % 3)}, words({1, 0}));
      time += 10;
    }
    // A later buffer of one processor may be written first.
    buffers.push_back(round % 2 == 0 ? second : first);
    buffers.push_back(round % 2 == 0 ? first : second);
  }
  return buffers;
}

std::vector<std::tuple<i64, u16, u64>> schedule(const Trace& trace,
                                                const StreamOptions& options = {}) {
  std::vector<std::tuple<i64, u16, u64>> events;
  for (const auto& held : all_events(trace, options))
    events.emplace_back(held.event.timestamp, held.event.cpu.value_or(99),
                        held.event.buffer_offset + held.event.offset);
  return events;
}

}  // namespace

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
      .full(provider, 9, 3, ids, payload)
      .instance(provider, 9, ids, 71, 72, payload)
      .event(provider, 21, 1, ids, payload,
             {{1, std::vector<std::byte>(16, std::byte{7})},
              {6, std::vector<std::byte>(24, std::byte{1})}},
             28)
      .message(provider, 33, ids, payload)
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
  CHECK(events[4].event.provider == provider);
  CHECK(events[5].event.version == 0);
  const auto instance = find_instance(events[5].event);
  REQUIRE(instance);
  CHECK(instance->id == 71);
  CHECK(instance->parent_id == 72);
  CHECK(instance->parent == provider);
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
  CHECK(clock.approximate() == (row.type == 3));
  const auto least = clock.first_timestamp_at(time);
  CHECK(clock.to_file_time(least).ticks >= time.ticks);
  CHECK(clock.to_file_time(least - 1).ticks < time.ticks);
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
  buffer.event(provider, 1, 0, {1, 2, 1'000'001}, words({1}));
  EtlSession session;
  session.log_file_mode |= LogfileHeader::no_per_processor;
  const auto open = open_bytes(fixtures::build_etl(session, {buffer}));
  CHECK_FALSE(all_events(*open.trace).back().event.cpu);
}

TEST_CASE("the processor of Windows 7 is one byte beside the alignment") {
  EtlBuffer buffer{3};
  buffer.event(provider, 1, 0, {1, 2, 1'000'001}, words({1}));
  EtlSession session;
  session.processor_index = false;
  const auto open = open_bytes(fixtures::build_etl(session, {buffer}));
  CHECK(all_events(*open.trace).back().event.cpu == u16{3});
}

TEST_CASE("lost events and buffers are findings and gaps before their buffer") {
  auto buffers = overlapping_buffers(2);
  buffers[2].flags(BufferHeader::events_lost);
  buffers[3].flags(BufferHeader::buffer_lost);
  EtlSession session;
  session.events_lost = 12;
  session.buffers_lost = 1;
  const auto open = open_bytes(fixtures::build_etl(session, buffers));
  CHECK(open.findings.count("events-lost") == 1);
  CHECK(open.findings.count("buffers-lost") == 1);
  CHECK(open.findings.count("gap-events-lost") == 1);
  CHECK(open.findings.count("gap-buffers-lost") == 1);
  auto stream = open.trace->stream({});
  i64 latest = 0;
  std::size_t gaps = 0;
  for (auto item = stream.next(); item != EventStream::Item::end; item = stream.next()) {
    if (item == EventStream::Item::event) latest = stream.event().timestamp;
    if (item != EventStream::Item::gap) continue;
    ++gaps;
    CHECK(stream.gap().timestamp.value() >= latest);
  }
  CHECK(gaps == 2);
  CHECK(all_gaps(*open.trace, {.order = Order::file}).size() == 2);
}

TEST_CASE("damage stops one buffer and is a gap after what could be read") {
  auto buffers = overlapping_buffers(2);
  ByteWriter garbage;
  garbage.write_u32(0x12345678).write_zeros(60);
  EtlBuffer damaged{0};
  damaged.system(ready_thread, 2, {1, 2, 1'000'105}, words({1, 2})).raw(garbage);
  buffers.insert(buffers.begin() + 1, damaged);
  const auto open = open_bytes(fixtures::build_etl({}, buffers));
  CHECK(open.findings.count("buffer-damaged") == 1);
  CHECK(open.trace->events() == 1 + 80 + 1);
  const auto gaps = all_gaps(*open.trace);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].reason == Gap::Reason::damaged);
  CHECK(gaps[0].offset == 4096 * 2 + 72 + 40);
  CHECK(gaps[0].timestamp == i64{1'000'105});
}

TEST_CASE("a size of 0, of 7 or beyond the buffer is damage at its place") {
  const u16 size = GENERATE(u16{0}, u16{7}, u16{79}, u16{0xfff8});
  CAPTURE(size);
  ByteWriter record;
  record.write_u16(size).write_u8(19).write_u8(0xc0).write_zeros(92);
  EtlBuffer buffer{0};
  buffer.raw(record);
  const auto open = open_bytes(fixtures::build_etl({}, {buffer}));
  CHECK(open.findings.count("buffer-damaged") == 1);
  CHECK(open.findings.all()[0].first_offset == u64{4096 + 72});
}

TEST_CASE("a file cut anywhere gives the events before the cut") {
  const auto compression =
      GENERATE(fixtures::EtlCompression::none, fixtures::EtlCompression::xpress);
  const auto bytes = fixtures::build_etl({.compression = compression}, overlapping_buffers(3));
  const auto whole = open_bytes(bytes);
  u64 before = 0;
  for (std::size_t cut = 512; cut < bytes.size(); cut += 512) {
    CAPTURE(cut);
    const auto part = core::ByteView{bytes}.first(cut);
    const core::MemoryImage image{part};
    core::Findings findings;
    const auto trace = Trace::open(image, {}, findings);
    REQUIRE(trace);
    CHECK(trace->events() >= before);
    CHECK(trace->events() <= whole.trace->events());
    CHECK(all_events(*trace).size() == trace->events());
    CHECK_FALSE(findings.empty());
    before = trace->events();
  }
}

TEST_CASE("bytes that are no trace are refused with the place that says so") {
  struct Row {
    const char* why;
    std::size_t at;
    u32 value;
  };
  const auto row = GENERATE(values<Row>({
      {"no header buffer", 0x34, 0},
      {"a buffer smaller than its header", 0, 71},
      {"a buffer larger than Windows makes", 0, 0x7fffffff},
      {"first event of another kind", 76, 0x03010020},
      {"first event without marker", 74, 0},
      {"an unknown clock", 72 + 32 + 272, 9},
  }));
  CAPTURE(row.why);
  ByteWriter file;
  file.write_bytes(fixtures::build_etl({}, {}));
  file.patch(row.at, row.value);
  const core::MemoryImage image{file.view()};
  core::Findings findings;
  const auto trace = Trace::open(image, {}, findings);
  REQUIRE_FALSE(trace);
  CHECK(trace.error().offset < 512);
}

TEST_CASE("a few bytes that declare sixteen megabytes cost what they unpack to") {
  // A buffer of one event whose rest is one long match.
  EtlBuffer bomb{0};
  bomb.event(provider, 1, 0, {1, 2, 1'000'001}, words({1}));
  ByteWriter zeros;
  zeros.write_zeros((16U << 20) - 1024);
  bomb.raw(zeros);
  std::vector<EtlBuffer> buffers(4, bomb);
  const auto bytes =
      fixtures::build_etl({.compression = fixtures::EtlCompression::xpress}, buffers);
  CHECK(bytes.size() < 100'000);
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 5);
  CHECK(open.findings.count("buffer-damaged") == 4);
  CHECK(all_events(*open.trace, {.largest_buffers = 1}).size() == 5);
}

TEST_CASE("a compressed size that lies loses its buffer and finds the next") {
  auto bytes = fixtures::build_etl({.compression = fixtures::EtlCompression::xpress},
                                   overlapping_buffers(4));
  const auto whole = open_bytes(bytes);
  const auto second = whole.trace->scan().buffers[2].offset;
  const auto lie = GENERATE(u32{71}, u32{0}, u32{0x40000000}, u32{90});
  CAPTURE(lie);
  std::memcpy(bytes.data() + second, &lie, sizeof(lie));
  const auto open = open_bytes(bytes);
  CHECK_FALSE(open.findings.empty());
  CHECK(open.trace->events() >= whole.trace->events() - 20);
  CHECK(open.trace->events() <= whole.trace->events());
}

TEST_CASE("a preallocated tail that was never written is no damage") {
  auto bytes = fixtures::build_etl({.log_file_mode = 1 | LogfileHeader::preallocate},
                                   overlapping_buffers(1));
  bytes.resize(bytes.size() + 3 * 4096);
  const auto open = open_bytes(bytes);
  CHECK(open.findings.count("trace-preallocated") == 1);
  CHECK(open.trace->events() == 41);
}

TEST_CASE("a hole between buffers is skipped and shown") {
  auto bytes = fixtures::build_etl({}, overlapping_buffers(2));
  std::fill_n(bytes.begin() + 2 * 4096, 4096, std::byte{0});
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 61);
  const auto gaps = all_gaps(*open.trace);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].reason == Gap::Reason::not_a_buffer);
  CHECK(gaps[0].offset == 2 * 4096);
  CHECK(gaps[0].length == 4096);
}

TEST_CASE("a range that cannot be read is a warning, and the rest is read") {
  const auto bytes = fixtures::build_etl({}, overlapping_buffers(3));
  const core::MemoryImage image{bytes};
  const core::FailingImage failing{image, {{2 * 4096 + 100, 8}}};
  core::Findings findings;
  const auto trace = Trace::open(failing, {}, findings);
  REQUIRE(trace);
  CHECK(findings.count("trace-unreadable") == 1);
  CHECK(trace->events() == 1 + 5 * 20);
}

TEST_CASE("a session that was never closed is read to the end") {
  EtlSession session;
  session.end_time = 0;
  session.buffers_written = 0;
  const auto open = open_bytes(fixtures::build_etl(session, overlapping_buffers(2)));
  CHECK(open.trace->events() == 81);
  CHECK(open.findings.count("trace-not-closed") == 1);
  CHECK(open.findings.count("buffer-count") == 0);
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
