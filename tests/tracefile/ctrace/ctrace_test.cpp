#include <map>
#include <random>

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "coldtrace/tracefile/schema-language/built_in_schemas.hpp"
#include "fixtures/builders/value_of.hpp"
#include "tests/tracefile/ctrace/ctrace_file.hpp"
#include "tests/tracefile/schema-language/random_schemas.hpp"

using namespace coldtrace;
using namespace coldtrace::tracefile;
using test::CtraceFile;
using test::read_ctrace;

namespace {

CtraceData number(u32 process, u64 value) {
  return CtraceData{}.u32(process).u64(value);
}

// Data of an event by its declaration, with counts that fit.
class RandomData {
 public:
  explicit RandomData(u64 seed) : random_{seed} {}

  CtraceData make(const Schema& schema, const std::vector<FieldDeclaration>& fields) {
    CtraceData data;
    add(schema, fields, data);
    return data;
  }

 private:
  void add(const Schema& schema, const std::vector<FieldDeclaration>& fields, CtraceData& data) {
    std::map<std::string, u64> counters;
    for (const auto& field : fields)
      if (field.amount.kind == FieldAmount::Kind::counted) counters[field.amount.counter] = 0;
    for (const auto& field : fields) {
      u64 amount = 1;
      if (field.amount.kind == FieldAmount::Kind::fixed) amount = field.amount.number;
      if (field.amount.kind == FieldAmount::Kind::counted) amount = counters[field.amount.counter];
      if (field.amount.kind == FieldAmount::Kind::rest) amount = random_() % 5;
      const auto counter = counters.find(field.name);
      if (counter != counters.end()) {
        counter->second = random_() % 4;
        integer(data, counter->second, integer_size(field.type));
        continue;
      }
      const bool text = field.type == FieldType::ansi || field.type == FieldType::utf16;
      if (text && field.amount.kind == FieldAmount::Kind::none) {
        field.type == FieldType::ansi ? data.ansi("text") : data.utf16("t\u00e4xt");
        continue;
      }
      for (; amount > 0; --amount) element(schema, field, data);
    }
  }

  void integer(CtraceData& data, u64 value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) data.u8(static_cast<u8>(value >> 8 * i));
  }

  void element(const Schema& schema, const FieldDeclaration& field, CtraceData& data) {
    switch (field.type) {
      case FieldType::structure:
        add(schema, schema.find_struct(field.type_name)->fields, data);
        break;
      case FieldType::enumeration:
      case FieldType::flags:
        integer(data, random_(), integer_size(schema.find_enum(field.type_name)->base));
        break;
      case FieldType::boolean:
        data.u8(1);
        break;
      case FieldType::ansi:
      case FieldType::bytes:
        data.u8(static_cast<u8>('a' + random_() % 26));
        break;
      case FieldType::utf16:
        data.u16(static_cast<u16>('a' + random_() % 26));
        break;
      case FieldType::bool32:
        data.u32(1);
        break;
      case FieldType::guid:
        data.u64(random_()).u64(random_());
        break;
      case FieldType::sid:
        data.u8(1).u8(2).u16(0).u32(0x0500'0000).u32(32).u32(544);
        break;
      case FieldType::pointer:
      case FieldType::size:
      case FieldType::file_time:
        data.u64(random_());
        break;
      case FieldType::counted_ansi:
      case FieldType::counted_bytes:
        data.u16(3).u8('x').u8('y').u8('z');
        break;
      case FieldType::counted_utf16:
        data.counted_utf16("xyz");
        break;
      default:
        integer(data, random_(), integer_size(field.type));
        break;
    }
  }

  std::mt19937_64 random_;
};

void check_round_trip(const std::vector<Schema>& schemas, u64 seed) {
  CtraceFile file{2, to_text(schemas), 1 << 17};
  file.writer.flush(true);
  std::vector<std::string> written;
  RandomData random{seed};
  u64 tick = 0;
  for (const auto& schema : schemas)
    for (const auto& event : schema.events)
      for (int i = 0; i < 3; ++i) {
        const auto data = random.make(schema, event.fields);
        file.at_tick(++tick);
        REQUIRE(
            file.writer.write(static_cast<u16>(tick % 2), event.id, event.version, data.view()));
        written.emplace_back(core::to_chars(data.view()));
      }
  file.at_tick(tick + 1);
  file.writer.end();

  core::Findings findings;
  const core::MemoryImage image{file.bytes};
  const auto trace = Ctrace::open(image, {.kinds = true}, findings);
  REQUIRE(trace);
  CHECK(findings.empty());
  const auto stream = (*trace)->stream({});
  std::size_t read = 0;
  while (stream->next() == EventSequence::Item::event) {
    REQUIRE(read < written.size());
    CHECK(core::to_chars(stream->event().payload) == written[read]);
    CHECK(stream->event().file_time == CtraceFile::start + read + 1);
    ++read;
  }
  CHECK(read == written.size());
  for (const auto& count : (*trace)->kinds()) {
    CAPTURE(count.kind.name, count.kind.version, seed);
    CHECK(count.events[static_cast<std::size_t>(Decoded::exact)] == count.total());
  }
}

}  // namespace

TEST_CASE("every event of the built-in schemas is written and read back", "[ctrace]") {
  std::string all;
  for (const auto& schema : built_in_schemas()) all += schema.text;
  check_round_trip(fixtures::value_of(parse_schemas(all)), 1);
}

TEST_CASE("events of random schemas are written and read back", "[ctrace]") {
  for (u64 seed = 0; seed < 100; ++seed) check_round_trip(test::RandomSchemas{seed}.make(), seed);
}

TEST_CASE("processors are merged by time", "[ctrace]") {
  CtraceFile file{3, test::small_schema, 256};
  file.writer.flush(true);
  std::mt19937_64 random{5};
  for (u64 i = 0; i < 500; ++i) {
    file.at_tick(i / 2);
    const auto cpu = static_cast<u16>(random() % 3);
    if (!file.writer.write(cpu, 1, 0, number(7, i).view())) {
      file.writer.flush();
      file.writer.write(cpu, 1, 0, number(7, i).view());
    }
  }
  file.at_tick(300);
  file.writer.end();
  auto read = read_ctrace(file.bytes);
  REQUIRE(read.events.size() == 500);
  for (std::size_t i = 1; i < read.events.size(); ++i) {
    const auto& a = read.events[i - 1];
    const auto& b = read.events[i];
    CHECK(std::pair{a.time, a.cpu} <= std::pair{b.time, b.cpu});
  }
  CHECK(read.events.front().pid == 7);
  // With no room for more than one buffer at a time the events are the same.
  CHECK(read_ctrace(file.bytes, {.largest_buffers = 1}).events == read.events);
  CHECK(read_ctrace(file.bytes, {.order = Order::file}).events.size() == 500);
  const auto some = read_ctrace(file.bytes, {.first = static_cast<i64>(CtraceFile::start + 100),
                                             .last = static_cast<i64>(CtraceFile::start + 149)});
  CHECK(some.events.size() == 100);
}

TEST_CASE("a trace with more buffers than the index keeps in memory is read the same way",
          "[ctrace]") {
  constexpr u64 buffers = CtraceScan::most_in_memory + 9000;
  CtraceFile file{2, test::small_schema, 256};
  for (u64 i = 0; i < buffers; ++i) {
    file.at_tick(2 * i);
    file.writer.write(static_cast<u16>(i % 2), 1, 0, number(7, i).view());
    file.at_tick(2 * i + 1);
    file.writer.flush();
  }
  file.writer.end();
  const auto read = read_ctrace(file.bytes);
  REQUIRE(read.events.size() == buffers);
  CHECK(read.gaps.empty());
  u64 wrong = 0;
  for (u64 i = 0; i < buffers; ++i)
    wrong += read.events[i].time != CtraceFile::start + 2 * i || read.events[i].cpu != i % 2;
  CHECK(wrong == 0);
  const auto some = read_ctrace(file.bytes, {.first = static_cast<i64>(CtraceFile::start + 100),
                                             .last = static_cast<i64>(CtraceFile::start + 149)});
  CHECK(some.events.size() == 25);
}

TEST_CASE("stamps become UTC between the pairs of changing speeds", "[ctrace]") {
  CtraceFile file;
  const auto pair = [&](u64 cycles, u64 ticks) {
    file.at(cycles, CtraceFile::start + ticks);
    file.writer.flush(true);
  };
  const auto event = [&](u64 cycles) {
    file.at(cycles, 0);
    file.writer.write(0, 1, 0, number(1, cycles).view());
  };
  event(1000);    // before the first pair
  pair(2000, 0);  // 3 GHz from here: 300 cycles a tick
  event(2000);
  event(2449);    // 1.49 ticks
  pair(3200, 4);  // 1 GHz from here: 100 cycles a tick
  event(3350);    // 1.5 ticks behind
  pair(3500, 7);
  event(3600);  // behind the last pair
  file.writer.end();
  // The pair of the last buffer is that of the end: cycles 3600 without a time is none.
  const auto read = read_ctrace(file.bytes);
  REQUIRE(read.events.size() == 5);
  const auto tick = [&](std::size_t i) {
    return static_cast<i64>(read.events[i].time - CtraceFile::start);
  };
  CHECK(tick(0) == -4);  // 3.33 ticks before, rounded down
  CHECK(read.events[0].approximate);
  CHECK(tick(1) == 0);
  CHECK_FALSE(read.events[1].approximate);
  CHECK(tick(2) == 1);
  CHECK(tick(3) == 5);
  CHECK_FALSE(read.events[3].approximate);
  CHECK(tick(4) == 8);
  CHECK(read.events[4].approximate);
  // Between the last two pairs 300 cycles took 3 ticks; at 3 GHz they take 1.
  CHECK(read.error_bound == 2);
}

TEST_CASE("the true time lies within the bound, whatever the speed did", "[ctrace]") {
  std::mt19937_64 random{11};
  for (int round = 0; round < 20; ++round) {
    CtraceFile file{1, test::small_schema, 1 << 16};
    u64 cycles = 0;
    u64 time = CtraceFile::start;
    std::vector<u64> truth;
    file.at(cycles, time);
    file.writer.flush(true);
    for (int piece = 0; piece < 10; ++piece) {
      for (int i = 0; i < 20; ++i) {
        // Never above 300 cycles a tick, which is nominal.
        const u64 ticks = 1 + random() % 1000;
        cycles += ticks * (1 + random() % 300);
        time += ticks;
        file.at(cycles, time);
        file.writer.write(0, 1, 0, number(1, 0).view());
        truth.push_back(time);
      }
      file.writer.flush();
    }
    file.writer.end();
    const auto read = read_ctrace(file.bytes);
    REQUIRE(read.events.size() == truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const auto error = static_cast<i64>(read.events[i].time - truth[i]);
      // Rounding down costs up to one tick.
      CHECK(std::abs(error) <= static_cast<i64>(read.error_bound.value()) + 1);
      CHECK_FALSE(read.events[i].approximate);
    }
  }
}

TEST_CASE("without pairs times rest on what is left", "[ctrace]") {
  CtraceFile one;
  one.at_tick(10);
  one.writer.write(0, 1, 0, number(1, 1).view());
  one.at_tick(20);
  one.writer.end();
  auto read = read_ctrace(one.bytes);
  CHECK(read.findings.count("clock-one-pair") == 1);
  REQUIRE(read.events.size() == 1);
  CHECK(read.events[0].time == CtraceFile::start + 10);
  CHECK_FALSE(read.error_bound);

  CtraceFile none;
  none.at(500, 0);
  none.writer.write(0, 1, 0, number(1, 1).view());
  none.at(800, 0);
  none.writer.write(0, 1, 0, number(1, 2).view());
  none.writer.end();
  read = read_ctrace(none.bytes);
  CHECK(read.findings.count("clock-no-pair") == 1);
  REQUIRE(read.events.size() == 2);
  CHECK(read.events[0].time == CtraceFile::start);
  CHECK(read.events[1].time == CtraceFile::start + 1);
  CHECK(read.events[0].approximate);
  CHECK(read.events[1].approximate);
  CHECK_FALSE(read.error_bound);

  CtraceFile back;
  back.writer.flush(true);
  back.at(2000, CtraceFile::start - 100);
  back.writer.flush(true);
  back.writer.end();
  CHECK(read_ctrace(back.bytes).findings.count("clock-set-back") == 1);
}

TEST_CASE("pointers are as wide as those of the traced system", "[ctrace]") {
  constexpr std::string_view schema = R"(
schema s {11111111-2222-3333-4444-555555555555};
event P = 1 { pointer a; u32 p is process; size rest[]; }
)";
  for (const u8 pointer_size : {u8{4}, u8{8}}) {
    CtraceFile file{1, schema, 4096, 0, pointer_size};
    CtraceData data{pointer_size};
    file.writer.write(0, 1, 0, data.word(0x1234'5678).u32(7).word(1).word(2).view());
    file.writer.end();
    const core::MemoryImage image{file.bytes};
    core::Findings findings;
    const auto trace = Ctrace::open(image, {.kinds = true}, findings);
    REQUIRE(trace);
    REQUIRE((*trace)->kinds().size() == 1);
    CHECK((*trace)->kinds()[0].events[static_cast<std::size_t>(Decoded::exact)] == 1);
    CHECK(read_ctrace(file.bytes).events.at(0).pid == 7);
  }
}

TEST_CASE("the data of encrypted events of unknown versions is not handed out", "[ctrace]") {
  CtraceFile file;
  file.writer.write(0, 3, 9, CtraceData{}.u32(1).u64(0x1234'5678).view());
  file.writer.write(0, 99, 0, CtraceData{}.u32(1).view());
  file.writer.end();
  const auto read = read_ctrace(file.bytes);
  REQUIRE(read.events.size() == 2);
  CHECK(read.events[0].payload.empty());
  CHECK(read.events[1].payload.size() == 4);
}
