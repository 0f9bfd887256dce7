#include <cstring>

#include <catch2/catch.hpp>

#include "fixtures/builders/failing_image.hpp"
#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

using fixtures::ByteWriter;
using fixtures::EtlBuffer;
using fixtures::EtlSession;

}  // namespace

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
  CHECK(open.trace->events_lost().all == 12);
  CHECK(open.trace->buffers_lost().all == 1);
  CHECK(open.trace->events_lost().at_least == 12);
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

TEST_CASE("bytes that are not a trace are refused with the place that says so") {
  struct Row {
    const char* why;
    std::size_t at;
    u32 value;
  };
  const auto row = GENERATE(values<Row>({
      {"a first event that is none", 72, 0},
      {"first event without marker", 74, 0},
      {"first event of no known type", 74, 0xc063},
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

TEST_CASE("a first buffer that is damaged says what it can") {
  struct Row {
    const char* why;
    std::size_t at;
    u32 value;
    bool header;
  };
  const auto row = GENERATE(values<Row>({
      {"no header buffer", 0x34, 0, true},
      {"a buffer smaller than its header", 0, 71, true},
      {"a buffer larger than Windows makes", 0, 0x7fffffff, true},
      {"first event of another kind", 76, 0x03010020, false},
      {"first event without marker", 74, 0, false},
      {"an unknown clock", 72 + 32 + 272, 9, false},
  }));
  CAPTURE(row.why);
  ByteWriter file;
  file.write_bytes(fixtures::build_etl({}, overlapping_buffers(2)));
  file.patch(row.at, row.value);
  const auto open = open_bytes(file.bytes());
  CHECK(open.findings.count("trace-header") == 1);
  CHECK(open.trace->scan().has_header == row.header);
  CHECK(open.trace->clock().known() == row.header);
  CHECK(open.trace->events_lost().all.has_value() == row.header);
  CHECK(open.trace->buffers_lost().all.has_value() == row.header);
  CHECK(open.trace->time_quality(open.trace->files().front()) ==
        (row.header ? TimeQuality::exact : TimeQuality::unknown));
  CHECK(open.trace->events() >= 80);
}

TEST_CASE("times by cycles of a processor, or a clock of no rate, are approximate") {
  const auto session = GENERATE(EtlSession{.clock_type = 1, .frequency = 0},
                                EtlSession{.clock_type = 3, .frequency = 10'000'000});
  const auto open = open_bytes(fixtures::build_etl(session, overlapping_buffers(2)));
  const auto quality = open.trace->time_quality(open.trace->files().front());
  CHECK(quality == TimeQuality::approximate);
  CHECK(to_string(quality) == "approximate");
}

TEST_CASE("a first buffer of zeros leaves the events of all others") {
  const auto compression =
      GENERATE(fixtures::EtlCompression::none, fixtures::EtlCompression::xpress,
               fixtures::EtlCompression::lznt1, fixtures::EtlCompression::xpress_huffman);
  auto bytes = fixtures::build_etl({.compression = compression}, overlapping_buffers(2));
  const auto first = open_bytes(bytes).trace->scan().buffers[1].offset;
  std::fill_n(bytes.begin(), first, std::byte{0});
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 80);
  CHECK(open.trace->scan().compression == static_cast<Compression>(compression));
  CHECK(open.trace->scan().pointer_size == 8);
  const auto gaps = all_gaps(*open.trace);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].reason == Gap::Reason::not_a_buffer);
  CHECK(gaps[0].length == first);
}

TEST_CASE("bytes anywhere between buffers cost no event") {
  auto bytes = fixtures::build_etl({}, overlapping_buffers(3));
  const auto length = GENERATE(1, 7, 72, 512, 4096, 5000);
  const auto value = GENERATE(0x00, 0x12, 0xff);
  CAPTURE(length, value);
  bytes.insert(bytes.begin() + 3 * 4096, static_cast<std::size_t>(length),
               static_cast<std::byte>(value));
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 121);
  const auto gaps = all_gaps(*open.trace);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].offset == 3 * 4096);
  CHECK(gaps[0].length == static_cast<u64>(length));
  CHECK(open.findings.count("buffer-header") == 1);
}

TEST_CASE("a wrong BufferSize swallows no other buffer") {
  auto bytes = fixtures::build_etl({}, overlapping_buffers(3));
  const auto size = GENERATE(u32{0}, u32{71}, u32{72}, u32{4095}, u32{4097}, u32{8192}, u32{12288},
                             u32{7} << 20, u32{0xffffffff});
  const auto buffer = GENERATE(range(std::size_t{1}, std::size_t{7}));
  CAPTURE(size, buffer);
  std::memcpy(&bytes[buffer * 4096], &size, sizeof(size));
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 121);
  // Less than a header behind the last one is the end of the file.
  const bool at_end = buffer == 6 && size == 4095;
  CHECK(open.findings.count(at_end ? "trace-truncated" : "buffer-size") == 1);
}

TEST_CASE("an Offset that is too small hides no event") {
  auto bytes = fixtures::build_etl({}, overlapping_buffers(3));
  u32 filled = 0;
  std::memcpy(&filled, &bytes[2 * 4096 + 0x30], sizeof(filled));
  const auto offset = GENERATE_COPY(u32{0}, u32{72}, u32{73}, filled / 2, filled - 1);
  CAPTURE(offset);
  std::memcpy(&bytes[2 * 4096 + 0x30], &offset, sizeof(offset));
  // The flush comes after the last event.
  const i64 flush = 9'000'000;
  std::memcpy(&bytes[2 * 4096 + 0x10], &flush, sizeof(flush));
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 121);
  CHECK(open.findings.count("buffer-offset") == 1);
}

TEST_CASE("an Offset beyond the buffer costs no event") {
  auto bytes = fixtures::build_etl({}, overlapping_buffers(3));
  const auto offset = GENERATE(u32{4097}, u32{5000});
  CAPTURE(offset);
  std::memcpy(&bytes[2 * 4096 + 0x30], &offset, sizeof(offset));
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 121);
  CHECK(open.findings.count("buffer-length") == 1);
}

TEST_CASE("an Offset that no buffer can have is told as an Offset") {
  auto bytes = fixtures::build_etl({}, overlapping_buffers(3));
  const auto offset = GENERATE(u32{0x80000000}, u32{0xffffffff});
  std::memcpy(&bytes[2 * 4096 + 0x30], &offset, sizeof(offset));
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 121);
  REQUIRE(open.findings.all().size() == 1);
  const auto& finding = open.findings.all()[0];
  CHECK(finding.code == "buffer-header");
  CHECK(finding.first_offset == 2 * 4096 + 0x30);
  CHECK(finding.text == fmt::format("WMI_BUFFER_HEADER.Offset: over the limit: expected 0x2000000, "
                                    "found {:#x}",
                                    offset));
}

TEST_CASE("events that a buffer has in another order than that of their time are told") {
  EtlBuffer buffer{0};
  buffer.system(ready_thread, 2, {1, 2, 1'000'200}, words({1, 2}));
  buffer.system(ready_thread, 2, {1, 2, 1'000'100}, words({1, 2}));
  const auto open = open_bytes(fixtures::build_etl({}, {buffer}));
  CHECK(open.trace->events() == 1 + 2);
  CHECK(open.findings.count("event-order") == 1);
}

TEST_CASE("what a buffer has from an earlier use is not an event of it") {
  EtlBuffer buffer{0};
  buffer.system(ready_thread, 2, {1, 2, 1'000'500}, words({1, 2}));
  const auto filled = static_cast<u32>(72 + buffer.events().size());
  buffer.system(ready_thread, 2, {1, 2, 1'000'100}, words({1, 2}));
  auto bytes = fixtures::build_etl({}, {buffer});
  for (const auto at : {0x04, 0x30})
    std::memcpy(&bytes[static_cast<std::size_t>(4096 + at)], &filled, sizeof(filled));
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 2);
  CHECK(open.findings.count("buffer-tail") == 1);
  CHECK(open.findings.all().size() == 1);
  CHECK(open.findings.all()[0].severity == core::Severity::info);
}

TEST_CASE("an Offset that is too small hides no event behind one that is damaged") {
  auto bytes = fixtures::build_etl({}, overlapping_buffers(3));
  constexpr std::size_t buffer = 2 * 4096, record = 24;
  const u32 offset = 72 + 10 * record;
  std::memcpy(&bytes[buffer + 0x30], &offset, sizeof(offset));
  const i64 flush = 9'000'000;
  std::memcpy(&bytes[buffer + 0x10], &flush, sizeof(flush));
  std::memset(&bytes[buffer + 72 + 5 * record], 0, 8);
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 120);
  CHECK(open.findings.count("buffer-offset") == 1);
  CHECK(open.findings.count("buffer-damaged") == 1);
  CHECK(open.findings.count("buffer-tail") == 0);
  const auto gaps = all_gaps(*open.trace);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].offset == buffer + 72 + 5 * record);
  CHECK(gaps[0].length == record);
}

TEST_CASE("filler in front of the end of a buffer's events is damage") {
  auto bytes = fixtures::build_etl({}, overlapping_buffers(3));
  constexpr std::size_t buffer = 2 * 4096, record = 24;
  const auto what = GENERATE(0xff, 0);
  const auto first = GENERATE(std::size_t{0}, std::size_t{7}, std::size_t{19});
  CAPTURE(what, first);
  const auto at = buffer + 72 + first * record;
  std::memset(&bytes[at], what, buffer + 4096 - at);
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 121 - (20 - first));
  CHECK(open.findings.count("buffer-damaged") == 1);
  const auto gaps = all_gaps(*open.trace);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].offset == at);
  CHECK(gaps[0].offset + gaps[0].length == buffer + 4096);
}

TEST_CASE("an event has no more extended data items than there are kinds of") {
  const auto items = GENERATE(std::size_t{64}, std::size_t{65});
  EtlBuffer buffer{0};
  buffer.event(some_provider, 1, 0, {1, 2, 1'000'100}, words({1}),
               std::vector<fixtures::EtlExtended>(items, {1, std::vector<std::byte>(16)}));
  const auto open = open_bytes(fixtures::build_etl({}, {buffer}));
  CHECK(open.trace->events() == (items == 64 ? 2 : 1));
  CHECK(open.findings.count("buffer-damaged") == (items == 64 ? 0 : 1));
}

TEST_CASE("an item of extended data ends inside of its event") {
  struct Row {
    const char* why;
    u16 size;
    bool sound;
  };
  const auto row = GENERATE(values<Row>({
      {"as it is", 24, true},
      {"up to the end of the event", 32, true},
      {"a byte more", 33, false},
      {"as much as all items and the payload", 56, false},
      {"less than its head", 7, false},
  }));
  CAPTURE(row.why);
  EtlBuffer buffer{0};
  buffer.event(some_provider, 1, 0, {1, 2, 1'000'100}, words({1, 2}),
               std::vector<fixtures::EtlExtended>(2, {1, std::vector<std::byte>(16)}));
  auto bytes = fixtures::build_etl({}, {buffer});
  // Behind the heads of the buffer and of the event, and the first item: 8 bytes and its data.
  std::memcpy(&bytes[4096 + 72 + 80 + 24], &row.size, sizeof(row.size));
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == (row.sound ? 2 : 1));
  CHECK(open.findings.count("buffer-damaged") == (row.sound ? 0 : 1));
}

TEST_CASE("a number that no buffer can have counts no missing ones") {
  auto bytes = fixtures::build_etl({}, overlapping_buffers(3));
  const u64 number = 1'441'997'082'005'143'540;
  std::memcpy(&bytes[3 * 4096 + 0x18], &number, sizeof(number));
  const auto open = open_bytes(bytes);
  CHECK(open.findings.count("buffer-sequence") == 1);
  CHECK(all_gaps(*open.trace).empty());
}

TEST_CASE("a few bytes that declare sixteen megabytes cost what they unpack to") {
  // A buffer of one event whose rest is one long match.
  EtlBuffer bomb{0};
  bomb.event(some_provider, 1, 0, {1, 2, 1'000'001}, words({1}));
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
  CHECK(open.findings.count("buffer-length") == 4);  // no buffer of the session holds as much
  CHECK(all_gaps(*open.trace).size() == 4);
  CHECK(all_events(*open.trace, {.largest_buffers = 1}).size() == 5);
}

TEST_CASE("compressed buffers that are larger than the header says cost no event") {
  EtlBuffer large{0};
  for (int i = 0; i < 8000; ++i)
    large.system(ready_thread, 2, {1, 2, 1'000'000 + i}, words({1, 2}));
  auto bytes = fixtures::build_etl(
      {.buffer_size = 1U << 20, .compression = fixtures::EtlCompression::xpress}, {large, large});
  const u32 size = 65536;
  std::memcpy(&bytes[72 + 32], &size, sizeof(size));
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 1 + 2 * 8000);
  CHECK(open.findings.count("buffer-length") == 2);
  CHECK(all_gaps(*open.trace).empty());
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

TEST_CASE("a preallocated tail that was never written is not damage") {
  auto bytes = fixtures::build_etl({.log_file_mode = 1 | LogfileHeader::preallocate},
                                   overlapping_buffers(1));
  bytes.resize(bytes.size() + 3 * 4096);
  const auto open = open_bytes(bytes);
  CHECK(open.findings.count("trace-preallocated") == 1);
  CHECK(open.trace->events() == 41);
  // Zeros with anything behind them were written.
  bytes[bytes.size() - 100] = std::byte{1};
  const auto damaged = open_bytes(bytes);
  CHECK(damaged.findings.count("trace-preallocated") == 0);
  CHECK(damaged.findings.count("buffer-header") == 1);
  CHECK(damaged.trace->events() == 41);
}

TEST_CASE("a hole between buffers is skipped and shown") {
  auto bytes = fixtures::build_etl({}, overlapping_buffers(2));
  std::fill_n(bytes.begin() + 2 * 4096, 4096, std::byte{0});
  const auto open = open_bytes(bytes);
  CHECK(open.trace->events() == 61);
  const auto gaps = all_gaps(*open.trace);
  REQUIRE(gaps.size() == 2);
  CHECK(gaps[0].reason == Gap::Reason::buffers_missing);  // its place in time,
  CHECK(gaps[0].buffers == 1);
  CHECK(gaps[1].reason == Gap::Reason::not_a_buffer);  // and in the file
  CHECK(gaps[1].offset == 2 * 4096);
  CHECK(gaps[1].length == 4096);
}

TEST_CASE("a range that cannot be read is a warning, and the rest is read") {
  const auto bytes = fixtures::build_etl({}, overlapping_buffers(3));
  const core::MemoryImage image{bytes};
  const fixtures::FailingImage failing{image, {{2 * 4096 + 100, 8}}};
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

}  // namespace coldtrace::tracefile
