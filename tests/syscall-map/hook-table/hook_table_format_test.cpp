#include <random>

#include <catch2/catch.hpp>

#include "coldtrace/syscall-map/hook-table/hook_table_decoder.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_differences.hpp"
#include "fixtures/builders/hook_tables.hpp"
#include "hook_table_test.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

std::vector<HookTable> decode(core::ByteView bytes) {
  auto tables = decode_hook_tables(bytes);
  INFO((tables ? std::string{} : core::to_string(tables.error())));
  REQUIRE(tables);
  return std::move(*tables);
}

void check_same(const HookTable& a, const HookTable& b) {
  for (const auto& difference : compare_all(a, b))
    FAIL(difference.path << ": " << difference.before.value_or("nothing") << ", "
                         << difference.after.value_or("nothing"));
}

TEST_CASE("a table that is encoded and decoded is the same, but for paths") {
  for (u32 seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    auto tables = fixtures::make_hook_tables(seed, seed % 5);
    const auto decoded = decode(encode(tables));
    REQUIRE(decoded.size() == tables.size());
    for (const auto& table : tables) {
      const auto found = std::find_if(decoded.begin(), decoded.end(), [&](const auto& other) {
        return pe::same_headers(table.images.front().identity, other.images.front().identity);
      });
      REQUIRE(found != decoded.end());
      check_same(table, *found);
    }
    CHECK(encode(decoded) == encode(tables));
  }
}

TEST_CASE("the order in which builds are given changes no byte") {
  auto tables = fixtures::make_hook_tables(4, 6);
  const auto bytes = encode(tables);
  std::reverse(tables.begin(), tables.end());
  const auto decoded = decode(encode(tables));
  CHECK(encode(decoded) == bytes);
}

TEST_CASE("without evidence a table is smaller and has the same values") {
  const auto table = fixtures::make_hook_table(8);
  const auto bytes = encode({&table, 1}, {.evidence = false});
  CHECK(bytes.size() < encode({&table, 1}).size());
  CHECK(compare_hook_tables(table, decode(bytes).front()).empty());
  CHECK_FALSE(compare_all(table, decode(bytes).front()).empty());
}

TEST_CASE("what the format cannot hold is refused") {
  auto table = fixtures::make_hook_table(8);
  const auto refused = [](const std::vector<HookTable>& tables) {
    return !encode_hook_tables(tables);
  };
  CHECK(refused({table, table}));
  auto no_kernel = table;
  no_kernel.images.front().role = ImageRole::ntdll;
  CHECK(refused({no_kernel}));
  auto unsorted = table;
  unsorted.services = {{.number = 5}, {.number = 4}};
  CHECK(refused({unsorted}));
  unsorted.services = {{.number = 5}, {.number = 5}};
  CHECK(refused({unsorted}));
  auto zero = table;
  zero.context_switch.reasons = {std::string{"a\0b", 3}};
  CHECK(refused({zero}));
  auto sentinel = table;
  sentinel.services = {{.number = 5, .target = pe::Rva{~u32{0}}}};
  CHECK(refused({sentinel}));
}

TEST_CASE("every truncation and every wrong bit is an error inside the table") {
  const auto bytes = encode(fixtures::make_hook_tables(2, 2));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto tables = decode_hook_tables(core::ByteView{bytes}.first(size));
    REQUIRE_FALSE(tables);
    CHECK(tables.error().offset <= size + 20);
  }
  auto bent = bytes;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bent[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    REQUIRE_FALSE(decode_hook_tables(bent));
    bent[bit / 8] = bytes[bit / 8];
  }
}

TEST_CASE("a table without trace points is one of version 1.0, another of version 1.1") {
  auto table = fixtures::make_hook_table(9);
  table.trace_points = {{.requested = "NtClose", .rva = pe::Rva{0x1000}}};
  const auto with = encode({&table, 1});
  table.trace_points.clear();
  const auto without = encode({&table, 1});
  CHECK(u32_at(with, 8) == 0x0001'0001);
  CHECK(u32_at(without, 8) == 0x0000'0001);
  CHECK(u32_at(with, 20) == u32_at(without, 20) + 1);
  CHECK(u32_at(with, entry_of(with, "BLDS") + 12) == 80);
  CHECK(u32_at(without, entry_of(without, "BLDS") + 12) == 72);
  CHECK(u32_at(with, entry_of(with, "TPNT") + 4) == 1);
  // Builds with and without them share a table.
  auto tables = fixtures::make_hook_tables(9, 3);
  for (auto& other : tables) other.trace_points.clear();
  tables[1].trace_points = {{.requested = "0x12", .rva = pe::Rva{0x12}}, {.requested = "NtX"}};
  const auto decoded = decode(encode(tables));
  std::size_t points = 0;
  for (const auto& build : decoded) points += build.trace_points.size();
  CHECK(points == 2);
}

TEST_CASE("a build has no more trace points than a plan may have") {
  HookTable table;
  table.images = fixtures::make_hook_table(9).images;
  table.trace_points.resize(most_trace_points);
  CHECK(decode(encode({&table, 1})).front().trace_points.size() == most_trace_points);
  table.trace_points.emplace_back();
  CHECK_FALSE(encode_hook_tables({&table, 1}));
}

TEST_CASE("each defect of a trace point is named") {
  struct Bent {
    const char* why;
    std::size_t offset;
    u32 value;
    core::Fault fault;
  };
  const auto bent = GENERATE(values<Bent>({
      {"a source that does not exist", 0, 7, core::Fault::bad_value},
      {"a boundary that does not exist", 0, 0x0300, core::Fault::bad_value},
      {"a flow that does not exist", 0, 0x0005'0000, core::Fault::bad_value},
      {"an emulator that does not exist", 0, 0x0200'0000, core::Fault::bad_value},
      {"a text outside the pool", 32, 0x00ff'ffff, core::Fault::out_of_bounds},
      {"bytes of another record", 52, 0x1000, core::Fault::out_of_bounds},
      {"more bytes than there are", 56, 0x1000'0000, core::Fault::out_of_bounds},
      {"a reason without a refusal", 92, 0, core::Fault::out_of_bounds},
  }));
  CAPTURE(bent.why);
  HookTable table;
  table.images = fixtures::make_hook_table(9).images;
  table.trace_points = {{.requested = "NtClose", .bytes = {0x90}}};
  table.trace_points.front().refusals = {{TraceRefusal::init, "it is in INIT"}};
  auto bytes = encode({&table, 1});
  put_u32(bytes, u32_at(bytes, entry_of(bytes, "TPNT") + 8) + bent.offset, bent.value);
  mend_crc(bytes);
  const auto decoded = decode_hook_tables(bytes);
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().fault == bent.fault);
}

TEST_CASE("a refusal that nobody knows, and one without its sentence, are refused") {
  HookTable table;
  table.images = fixtures::make_hook_table(9).images;
  table.trace_points = {{.requested = "NtClose"}};
  table.trace_points.front().refusals = {{TraceRefusal::machine, "text"}};
  const auto bytes = encode({&table, 1});
  const auto record = u32_at(bytes, entry_of(bytes, "TPNT") + 8);
  const auto words = u32_at(bytes, entry_of(bytes, "WORD") + 8);
  auto unknown = bytes;
  put_u32(unknown, words + 4 * u32_at(bytes, record + 88),
          static_cast<u32>(last_trace_refusal) + 1);
  mend_crc(unknown);
  REQUIRE_FALSE(decode_hook_tables(unknown));
  auto silent = bytes;
  put_u32(silent, record + 100, 0);
  mend_crc(silent);
  const auto decoded = decode_hook_tables(silent);
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().fault == core::Fault::bad_value);
}

struct Defect {
  const char* why;
  const char* section;
  std::size_t offset;  // in the section's entry, or, with `in_record`, in its first record
  bool in_record;
  u32 value;
  core::Fault fault;
};

TEST_CASE("each defect of a table is named") {
  const auto defect = GENERATE(values<Defect>({
      {"a section outside the file", "SVCS", 8, false, 0x7fff'0000, core::Fault::out_of_bounds},
      {"more records than the file holds", "SVCS", 16, false, 0x1000'0000,
       core::Fault::out_of_bounds},
      {"records smaller than this version's", "SVCS", 12, false, 40, core::Fault::bad_value},
      {"a required section that nobody knows", "FLDS", 0, false, 0x2020'2020,
       core::Fault::unsupported},
      {"one section twice", "FLDS", 0, false, 0x5346'4e49, core::Fault::unsupported},
      {"a list that begins elsewhere", "BLDS", 8, true, 1, core::Fault::out_of_bounds},
      {"a list longer than its section", "BLDS", 12, true, 0x0fff'ffff, core::Fault::out_of_bounds},
      {"a role that does not exist", "IMGS", 0, true, 0x8664'0009, core::Fault::bad_value},
      {"a text outside the pool", "IMGS", 20, true, 0x00ff'ffff, core::Fault::out_of_bounds},
      {"a service out of order", "SVCS", 0, true, 0x0000'ffff, core::Fault::bad_value},
      {"a hash that is not the name's", "NAME", 0, true, 0xffff'ffff, core::Fault::bad_value},
  }));
  CAPTURE(defect.why);
  HookTable table = fixtures::make_hook_table(9);
  table.services = {{.number = 1, .names = {"NtA"}}, {.number = 2, .names = {"NtB"}}};
  auto bytes = encode({&table, 1});
  const auto entry = entry_of(bytes, defect.section);
  put_u32(bytes, defect.offset + (defect.in_record ? u32_at(bytes, entry + 8) : entry),
          defect.value);
  mend_crc(bytes);
  const auto decoded = decode_hook_tables(bytes);
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().fault == defect.fault);
}

TEST_CASE("a list of the second build that is one longer than its section is out of bounds") {
  auto tables = fixtures::make_hook_tables(9, 2);
  auto bytes = encode(tables);
  const auto builds = u32_at(bytes, entry_of(bytes, "BLDS") + 8);
  const auto record_size = u32_at(bytes, entry_of(bytes, "BLDS") + 12);
  const auto count = builds + record_size + 12;  // of its services, behind the first
  put_u32(bytes, count, u32_at(bytes, count) + 1);
  mend_crc(bytes);
  const auto decoded = decode_hook_tables(bytes);
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().fault == core::Fault::out_of_bounds);
  CHECK(decoded.error().field == core::Name{"range"});
  CHECK(decoded.error().offset == u32_at(bytes, entry_of(bytes, "SVCS") + 8));
}

TEST_CASE("of records with one name each has a path of its own") {
  HookTable before = fixtures::make_hook_table(9);
  before.services = {{.number = 15, .names = {"NtClose"}}, {.number = 15, .names = {"NtClose"}}};
  auto after = before;
  for (auto& service : after.services) service.target = pe::Rva{0x2000};
  const auto differences = compare_hook_tables(before, after);
  REQUIRE(differences.size() == 2);
  CHECK(differences[0].path == "services[0x000f NtClose #2].target");
  CHECK(differences[1].path == "services[0x000f NtClose].target");
}

TEST_CASE("a value that changed is named by what it belongs to") {
  HookTable before = fixtures::make_hook_table(9);
  before.services = {{.number = 15, .names = {"NtClose"}, .target = pe::Rva{0x1000}},
                     {.number = 16}};
  auto after = before;
  after.services[0].target = pe::Rva{0x2000};
  after.services[0].evidence = {"another sentence"};
  after.services[1].argument_bytes = 4;
  const auto differences = compare_hook_tables(before, after);
  REQUIRE(differences.size() == 2);
  CHECK(differences[0].path == "services[0x000f NtClose].target");
  CHECK(differences[0].before == "0x1000");
  CHECK(differences[0].after == "0x2000");
  CHECK(differences[1].path == "services[0x0010].argument_bytes");
  CHECK_FALSE(differences[1].before);
}

}  // namespace
}  // namespace coldtrace
