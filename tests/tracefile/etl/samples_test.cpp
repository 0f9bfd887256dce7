#include <catch2/catch.hpp>
#include <rapidjson/document.h>
#include <zlib.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/opening/input_file.hpp"
#include "coldtrace/tracefile/providers/extended_data.hpp"
#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

// zlib's, not of this project.
unsigned long crc32_of(core::ByteView bytes) {
  const auto text = core::to_chars(bytes);
  return crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
}

rapidjson::Document load_json(const std::string& name) {
  const auto bytes = core::read_whole_file(sample_path(name), u64{1} << 28);
  REQUIRE(bytes);
  rapidjson::Document document;
  document.Parse(core::to_chars(*bytes).data(), bytes->size());
  REQUIRE_FALSE(document.HasParseError());
  return document;
}

std::string lower(std::string text) {
  for (auto& c : text) c = static_cast<char>(c | (c >= 'A' && c <= 'Z' ? 0x20 : 0));
  return text;
}

std::vector<std::vector<std::string>> load_table(const std::string& name) {
  core::Findings findings;
  const auto files = open_input(sample_path(name), u64{1} << 30, findings);
  REQUIRE(files);
  REQUIRE(findings.empty());
  const auto& plain = *files->front().bytes;
  std::vector<std::byte> bytes(static_cast<std::size_t>(plain.size()));
  REQUIRE(plain.read_at(0, bytes));
  std::vector<std::vector<std::string>> rows(1);
  std::string cell;
  for (const char c : core::to_chars(bytes)) {
    if (c == '\t' || c == '\n') {
      rows.back().push_back(std::move(cell));
      cell.clear();
      if (c == '\n') rows.emplace_back();
    } else if (c != '\r') {
      cell += c;
    }
  }
  rows.pop_back();
  rows.erase(rows.begin());
  return rows;
}

std::string number_or(const std::optional<u32>& number, const std::string& otherwise) {
  return number ? std::to_string(*number) : otherwise;
}

}  // namespace

TEST_CASE("header fields and times of 2,041 events equal the export that Windows made") {
  const auto open = open_sample("tx_HTTP_Server.etl");
  if (!open) return;
  const auto expected = load_json("tx_HTTP_Server.expected.json");
  const auto& records = expected["events"].GetArray();
  using Row = std::tuple<u64, u64, std::string, u64, u64, u64, std::string, std::string>;
  const auto text_or_empty = [](const rapidjson::Value& value) {
    return value.IsNull() ? std::string{} : lower(value.GetString());
  };
  std::multimap<Row, int> wanted;
  for (const auto& record : records) {
    std::string rest;
    for (const char* name :
         {"version", "level", "task", "opcode", "cpu", "kernel_time", "user_time"})
      rest += std::to_string(record[name].GetUint64()) + " ";
    wanted.emplace(Row{record["filetime"].GetUint64(), record["id"].GetUint64(),
                       lower(record["keywords"].GetString()), record["pid"].GetUint64(),
                       record["tid"].GetUint64(), 0, text_or_empty(record["activity"]) + rest,
                       text_or_empty(record["related"])},
                   0);
  }
  std::size_t equal = 0;
  for (const auto& held : all_events(*open->trace)) {
    const auto& event = held.event;
    if (event.event_class != EventClass::manifest) continue;
    std::string rest;
    for (const u64 number :
         {u64{event.version}, u64{event.level}, u64{event.task}, u64{event.opcode},
          u64{event.cpu.value()}, u64{event.kernel_time.value()}, u64{event.user_time.value()}})
      rest += std::to_string(number) + " ";
    const auto guid = core::to_guid(event.activity);
    const auto related = find_extended(event, ExtendedType::related_activity);
    const auto found =
        wanted.find(Row{open->trace->clock().to_file_time(event.timestamp).ticks, event.id,
                        fmt::format("{:#x}", event.keywords), event.pid.value(), event.tid.value(),
                        0, (guid == core::Guid{} ? std::string{} : core::to_string(guid)) + rest,
                        related ? core::to_string(core::to_guid(*related)) : ""});
    if (found == wanted.end()) continue;
    wanted.erase(found);
    ++equal;
  }
  CHECK(equal == 2041);
  CHECK(wanted.empty());
}

TEST_CASE("every event of the samples equals the independent walker's table") {
  const std::string name = GENERATE(as<std::string>{}, "tx_HTTP_Server", "dp_vsgc");
  const auto open = open_sample(name + ".etl", 2);
  if (!open) return;
  std::map<std::pair<u64, u64>, const Event*> events;  // by buffer and offset
  const auto held = all_events(*open->trace);
  for (const auto& one : held) events[{one.event.buffer_offset, one.event.offset}] = &one.event;
  std::size_t different = 0;
  const auto rows = load_table(name + ".tsv.gz");
  CHECK(rows.size() == held.size());
  for (const auto& row : rows) {
    const auto& buffer = open->trace->scan().buffers[std::stoul(row[0])];
    const auto found = events.find({buffer.offset, std::stoul(row[1]) + 72});
    if (found == events.end()) {
      ++different;
      continue;
    }
    const auto& event = *found->second;
    // The table's own columns; 0xffffffff is "unknown", and PERFINFO events have no thread there.
    const bool same =
        core::to_string(event.provider) == row[4] && std::to_string(event.opcode) == row[5] &&
        std::to_string(event.version) == row[7] && std::to_string(event.timestamp) == row[11] &&
        std::to_string(open->trace->clock().to_file_time(event.timestamp).ticks) == row[12] &&
        (row[13].empty() || number_or(event.pid, "4294967295") == row[13]) &&
        (row[14].empty() || number_or(event.tid, "4294967295") == row[14]) &&
        std::to_string(event.cpu.value()) == row[15] && std::to_string(event.size) == row[16] &&
        std::to_string(event.payload.size()) == row[17] &&
        fmt::format("{:08x}", crc32_of(event.payload)) == row[18];
    if (!same) ++different;
  }
  CHECK(different == 0);
}

TEST_CASE("events come in the order of time, and as the file has them when asked") {
  const auto open = open_sample("pv_net.4.5.2.x64.etl", 2);
  if (!open) return;
  auto stream = open->trace->stream({});
  i64 before = std::numeric_limits<i64>::min();
  u64 events = 0;
  bool sorted = true;
  while (stream.next() == EventStream::Item::event) {
    sorted = sorted && stream.event().timestamp >= before;
    before = stream.event().timestamp;
    ++events;
  }
  CHECK(sorted);
  CHECK(events == 179'474);
  auto in_file = open->trace->stream({.order = Order::file});
  std::pair<u64, u32> place{0, 0};
  u64 count = 0;
  while (in_file.next() == EventStream::Item::event) {
    const std::pair next{in_file.event().buffer_offset, in_file.event().offset};
    sorted = sorted && place < next;
    place = next;
    ++count;
  }
  CHECK(sorted);
  CHECK(count == events);
}

TEST_CASE("the merge gives the same events when memory for buffers is short") {
  const auto open = open_sample("dp_vsgc.etl");
  if (!open) return;
  auto roomy = open->trace->stream({});
  auto tight = open->trace->stream({.largest_buffers = 200'000});
  bool same = true;
  while (roomy.next() == EventStream::Item::event) {
    same = same && tight.next() == EventStream::Item::event &&
           tight.event().timestamp == roomy.event().timestamp &&
           tight.event().buffer_offset == roomy.event().buffer_offset &&
           tight.event().offset == roomy.event().offset;
  }
  CHECK(same);
  CHECK(tight.next() == EventStream::Item::end);
}

TEST_CASE("counts per provider and kind equal those of the independent walker") {
  const std::string name = GENERATE(as<std::string>{}, "dp_vsgc", "pv_net.4.5.2.x64", "pv_gcevents",
                                    "pv_primitive-types", "tx_HTTP_Server");
  const auto open = open_sample(name + ".etl", 2);
  if (!open) return;
  const auto expected = load_json(name + ".counts.json");
  const auto kinds = open->trace->kinds();
  u64 total = 0;
  std::map<std::string, u64> by_kind;
  for (const auto& count : kinds) {
    total += count.total();
    const auto guid = core::to_string(count.kind.provider);
    if (count.kind.event_class == EventClass::manifest)
      by_kind[fmt::format("event|{}|{}|v{}", guid, count.kind.id, count.kind.version)] +=
          count.total();
    else
      by_kind[fmt::format("{}|op{}|v{}", guid, count.kind.id, count.kind.version)] += count.total();
  }
  CHECK(total == expected["total_events"].GetUint64());
  CHECK(open->trace->events() == total);
  std::map<std::string, u64> wanted;
  for (const auto& entry : expected["counts"].GetObject()) {
    std::string key = entry.name.GetString();
    // Its "mof" and "classic" are one class of events here.
    if (key.rfind("event|", 0) != 0) key = key.substr(key.find('|') + 1);
    // The walker counts image loads as the process events that they are logged as.
    if (key.rfind("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c|op10|", 0) == 0)
      key.replace(0, 36, "2cb15d1d-5fc1-11d2-abe1-00a0c911f518");
    wanted[key] += entry.value.GetUint64();
  }
  for (const auto& [key, count] : wanted) {
    CAPTURE(key);
    CHECK(by_kind[key] == count);
  }
  CHECK(by_kind.size() == wanted.size());
}

TEST_CASE("manifest events decode to exactly their length from schemas inside the trace") {
  struct Row {
    const char* file;
    u64 exact;                          // manifest events
    std::map<std::string, u64> others;  // known to have more than their schema says
  };
  const std::vector<Row> rows = {
      {"pv_net.4.5.2.x64.etl", 51'524 + 14'983, {}},
      {"dp_vsgc.etl", 20'813, {{"GCGlobalHeapHistory_V4", 123}}},
      {"pv_primitive-types.etl", 5, {}},
      {"pv_SelfDescribingSingleEvent.etl", 1, {}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.file);
    const auto open = open_sample(row.file, 2);
    if (!open) return;
    u64 exact = 0;
    for (const auto& count : open->trace->kinds()) {
      if (count.kind.event_class != EventClass::manifest || !count.kind.schema) continue;
      exact += count.events[0];
      const auto known = row.others.find(count.kind.name);
      if (known != row.others.end()) {
        CHECK(count.events[1] == known->second);
      }
      CHECK(count.events[2] == 0);
    }
    CHECK(exact >= row.exact);
  }
}

TEST_CASE("the TraceLogging sample gives the values that PerfView shows") {
  const auto open = open_sample("pv_primitive-types.etl");
  if (!open) return;
  EventDecoder decoder{open->trace->schemas()};
  std::size_t found = 0;
  for (const auto& held : all_events(*open->trace)) {
    const auto& kind = decoder.kind_of(held.event);
    if (kind.name != "PrimitiveTypesTest") continue;
    FieldTexts texts{open->trace->clock()};
    CHECK(decoder.decode(held.event, kind, texts).decoded == Decoded::exact);
    CHECK(kind.provider_name == "solar_system");
    CHECK(texts.fields.size() > 5);
    // Output types: the boolean is a byte, the character the first letter of the planet.
    const auto& boolean = texts.fields.at("boolean_type");
    CHECK((boolean == "true" || boolean == "false"));
    CHECK(texts.fields.at("char_type") == texts.fields.at("string_type").substr(0, 1));
    ++found;
  }
  CHECK(found == 5);
}

TEST_CASE("names follow processes through the samples") {
  const auto open = open_sample("dp_vsgc.etl");
  if (!open) return;
  u64 with_process = 0;
  u64 named = 0;
  for (const auto& held : all_events(*open->trace)) {
    if (!held.event.pid) continue;
    ++with_process;
    if (open->trace->names().find_process(*held.event.pid, held.event.timestamp)) ++named;
  }
  CHECK(with_process > 70'000);
  CHECK(named * 100 > with_process * 95);
}

}  // namespace coldtrace::tracefile
