#include "coldtrace/tracefile/opening/any_trace.hpp"

#include <catch2/catch.hpp>
#include <zlib.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/names/version_text.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "fixtures/builders/value_of.hpp"
#include "tests/tracefile/ctrace/ctrace_file.hpp"
#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

std::vector<i64> times_of(const AnyTrace& trace) {
  std::vector<i64> times;
  const auto stream = trace.stream({});
  for (auto item = stream->next(); item != EventSequence::Item::end; item = stream->next())
    if (item == EventSequence::Item::event) times.push_back(stream->event().timestamp);
  return times;
}

std::vector<std::byte> packed(core::ByteView plain) {
  std::vector<std::byte> out(plain.size() + 1024);
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string in{core::to_chars(plain)};
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Of a session of its own, on a machine with that version of Windows.
std::vector<std::byte> ctrace_of(const std::array<u32, 3>& version) {
  static u8 sessions = 0;
  std::vector<std::byte> bytes;
  CtraceWriter::Options options;
  options.header.pointer_size = 8;
  options.header.clock = ClockType::performance_counter;
  options.header.processors = 1;
  options.header.frequency = 1'000'000;
  options.header.start_time = {test::CtraceFile::start};
  options.header.session.bytes.front() = std::byte{++sessions};
  options.header.windows_version = version;
  options.header.schema_text = test::small_schema;
  CtraceWriter writer{
      options, [&](core::ByteView view) { bytes.insert(bytes.end(), view.begin(), view.end()); }};
  writer.end();
  return bytes;
}

}  // namespace

TEST_CASE("a trace of either format, packed or not, is opened by its contents") {
  const fixtures::TemporaryDirectory directory;
  const auto etl = fixtures::build_etl({}, overlapping_buffers(3));
  test::CtraceFile file;
  file.at_tick(5);
  const auto ctrace = file.bytes;
  core::Findings findings;
  const auto open = [&](core::ByteView bytes) {
    // The name says nothing.
    return AnyTrace::open(directory.write("trace.txt", core::to_chars(bytes)), {}, findings);
  };

  const auto plain = open(etl);
  REQUIRE(plain);
  CHECK(plain->format() == "etl");
  CHECK(plain->etl());
  CHECK_FALSE(plain->ctrace());
  CHECK(plain->windows_version() == "10.0");
  const auto times = times_of(*plain);
  CHECK(times.size() == plain->events());
  CHECK(times == times_of(fixtures::value_of(open(packed(etl)))));

  const auto own = open(ctrace);
  REQUIRE(own);
  CHECK(own->format() == "ctrace");
  CHECK(own->ctrace());
  CHECK_FALSE(own->etl());
  CHECK(times_of(*own).size() == own->events());
  CHECK(fixtures::value_of(open(packed(ctrace))).format() == "ctrace");
}

TEST_CASE("a trace of either format tells its machine and what was lost") {
  const auto open = [](core::ByteView bytes) {
    core::Findings findings;
    return fixtures::value_of(
        AnyTrace::open(std::make_unique<core::MemoryImage>(bytes), {}, findings));
  };
  const fixtures::EtlSession session{
      .pointer_size = 4, .processors = 3, .events_lost = 7, .buffers_lost = 5};
  fixtures::ByteWriter file;
  file.write_bytes(fixtures::build_etl(session, overlapping_buffers(2)));
  const auto plain = file.bytes();
  const auto etl = open(plain);
  REQUIRE(etl.machine());
  CHECK(find_version_text(etl.machine()->windows_version) == "10.0.19041");
  CHECK(etl.machine()->processors == 3);
  CHECK(etl.machine()->pointer_size == 4);
  CHECK(etl.events_lost().all == 7U);
  CHECK(etl.buffers_lost().all == 5U);
  CHECK(etl.events_of(0) == etl.events());

  constexpr std::size_t marker_of_header_event = 74;
  file.patch(marker_of_header_event, u32{0});
  const auto lost_bytes = file.bytes();
  const auto headless = open(lost_bytes);
  CHECK_FALSE(headless.machine());
  CHECK(headless.windows_build().empty());
  CHECK(headless.windows_version().empty());
  CHECK_FALSE(headless.events_lost().all);
  CHECK_FALSE(headless.buffers_lost().all);

  test::CtraceFile own{2, test::small_schema, 128, 0, 4};
  own.at_tick(1);
  for (int i = 0; i < 9; ++i) own.writer.write(0, 1, 0, words({0, 0}).view());
  own.at_tick(2);
  own.writer.end();
  const auto ctrace = open(own.bytes);
  REQUIRE(ctrace.machine());
  CHECK(find_version_text(ctrace.machine()->windows_version) == "10.0.19045");
  CHECK(ctrace.machine()->processors == 2);
  CHECK(ctrace.machine()->pointer_size == 4);
  CHECK(ctrace.events_of(0) == ctrace.events());
  CHECK(ctrace.events_lost().all == 9 - ctrace.events());
  CHECK(ctrace.buffers_lost().all == 0U);
}

TEST_CASE("the version of Windows is that of all files, or none") {
  struct Row {
    std::vector<std::array<u32, 3>> versions;
    std::string build, version;
  };
  const auto row = GENERATE(values<Row>({
      {{{10, 0, 19045}}, "10.0.19045", "10.0"},
      {{{10, 0, 19045}, {10, 0, 19045}}, "10.0.19045", "10.0"},
      {{{10, 0, 19045}, {10, 0, 22000}}, "", ""},
      {{{}, {6, 1, 7601}}, "6.1.7601", "6.1"},  // one tracer did not say it
      {{{}}, "", ""},
  }));
  std::vector<std::vector<std::byte>> kept;
  for (const auto& version : row.versions) kept.push_back(ctrace_of(version));
  std::vector<InputFile> files;
  for (const auto& bytes : kept)
    files.push_back({std::to_string(files.size()), std::make_shared<core::MemoryImage>(bytes)});
  core::Findings findings;
  const auto trace =
      fixtures::value_of(AnyTrace::open(std::move(files), {.force = true}, findings));
  REQUIRE(trace.files().size() == row.versions.size());
  CHECK(trace.windows_build() == row.build);
  CHECK(trace.windows_version() == row.version);
}

TEST_CASE("what is not a trace is told apart from what cannot be read") {
  const fixtures::TemporaryDirectory directory;
  core::Findings findings;
  const auto missing = AnyTrace::open(directory.path("missing"), {}, findings);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().error.fault == core::Fault::io);
  CHECK_FALSE(missing.error().readable);

  const auto text = AnyTrace::open(directory.write("a", "\x01\x80\x03\x91\x05"), {}, findings);
  REQUIRE_FALSE(text);
  CHECK(text.error().readable);
  CHECK(text.error().kind == core::FileKind::unknown);

  const auto elf = AnyTrace::open(directory.write("b",
                                                  "\x7f"
                                                  "ELF and more"),
                                  {}, findings);
  REQUIRE_FALSE(elf);
  CHECK(elf.error().readable);
  CHECK(elf.error().kind == core::FileKind::elf);
}

TEST_CASE("of several files without a trace each is told") {
  const auto file = [](std::string name, std::string_view content) {
    return InputFile{std::move(name),
                     std::make_shared<core::MemoryImage>(std::as_bytes(std::span{content}))};
  };
  core::Findings findings;
  const auto opened = AnyTrace::open({file("a", "text"), file("b", "more")}, {}, findings);
  REQUIRE_FALSE(opened);
  REQUIRE(opened.error().size() == 2);
  CHECK(opened.error()[0].name == "a");
  CHECK(opened.error()[1].name == "b");
  const auto none = AnyTrace::open(std::vector<InputFile>{}, {}, findings);
  REQUIRE_FALSE(none);
  CHECK(none.error().size() == 1);
}

TEST_CASE("more files than events can tell apart are refused") {
  const auto etl = fixtures::build_etl({}, overlapping_buffers(1));
  const auto bytes = std::make_shared<const core::MemoryImage>(etl);
  const std::vector<InputFile> files(0x10000, InputFile{"one.etl", bytes});
  core::Findings findings;
  const auto refused = AnyTrace::open(files, {}, findings);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().back().failure.text == "65536 files: a trace has at most 65535");
}

}  // namespace coldtrace::tracefile
