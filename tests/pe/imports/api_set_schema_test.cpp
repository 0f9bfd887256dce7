#include "coldtrace/pe/api_set_schema.hpp"

#include "fixtures/builders/api_set_schema.hpp"
#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using fixtures::ApiSetSpec;
using pe::ApiSetAnswer;
using test::codes;
using test::Opened;

const std::vector<ApiSetSpec> some_sets = {
    {"api-ms-win-core-file-l1-2-0", {{"", "kernelbase.dll"}}},
    {"api-ms-win-core-heap-l1-1-0", {{"", "KernelBase.dll"}, {"kernelbase.dll", "ntdll.dll"}}},
    {"ext-ms-win-nowhere-l1-1-0", {{"", ""}}},
};

pe::ApiSetSchema read(const fixtures::Bytes& bytes, core::Findings& findings) {
  const auto schema = pe::read_api_set_schema(bytes, 0x400, findings);
  REQUIRE(schema);
  return *schema;
}

std::string host_of(const pe::ApiSetSchema& schema, std::string_view name,
                    std::string_view importer = "program.exe") {
  std::string dll;
  switch (schema.find(name, importer, dll)) {
    case ApiSetAnswer::host:
      return dll;
    case ApiSetAnswer::no_host:
      return "no host";
    case ApiSetAnswer::unknown:
      return "unknown";
  }
  return "";
}

TEST_CASE("an API set has the host that its schema names, in all three versions") {
  const u32 version = GENERATE(2U, 4U, 6U);
  CAPTURE(version);
  core::Findings findings;
  const auto schema = read(fixtures::build_api_set_schema(version, some_sets), findings);
  CHECK(findings.empty());
  CHECK(schema.version == version);
  CHECK(schema.sets.size() == 3);
  CHECK(host_of(schema, "api-ms-win-core-file-l1-2-0") == "kernelbase.dll");
  CHECK(host_of(schema, "API-MS-Win-Core-File-L1-2-0.DLL") == "kernelbase.dll");
  CHECK(host_of(schema, "ext-ms-win-nowhere-l1-1-0.dll") == "no host");
  CHECK(host_of(schema, "api-ms-win-core-absent-l1-1-0.dll") == "unknown");
  CHECK(host_of(schema, "kernel32.dll") == "unknown");
  CHECK(host_of(schema, "api-") == "unknown");
}

TEST_CASE("an importer can have a host of its own") {
  const u32 version = GENERATE(2U, 4U, 6U);
  core::Findings findings;
  const auto schema = read(fixtures::build_api_set_schema(version, some_sets), findings);
  CHECK(host_of(schema, "api-ms-win-core-heap-l1-1-0", "kernel32.dll") == "kernelbase.dll");
  CHECK(host_of(schema, "api-ms-win-core-heap-l1-1-0", "KERNELBASE.dll") == "ntdll.dll");
}

TEST_CASE("only version 6 leaves the last number of an API set's name out") {
  const auto [version, expected] =
      GENERATE(table<u32, std::string>({{2, "unknown"}, {4, "unknown"}, {6, "kernelbase.dll"}}));
  core::Findings findings;
  const auto schema = read(fixtures::build_api_set_schema(version, some_sets), findings);
  CHECK(host_of(schema, "api-ms-win-core-file-l1-2-7.dll") == expected);
  CHECK(host_of(schema, "api-ms-win-core-file-l1-3-0.dll") == "unknown");
}

TEST_CASE("every truncation of an API set schema is an error or a finding") {
  const u32 version = GENERATE(2U, 4U, 6U);
  const auto bytes = fixtures::build_api_set_schema(version, some_sets);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + std::ptrdiff_t(size));
    core::Findings findings;
    const auto schema = pe::read_api_set_schema(cut, 0x400, findings);
    CAPTURE(version, size);
    CHECK((!schema || findings.count("api-set-schema") > 0));
  }
}

TEST_CASE("damaged API set schemas are findings, and the other sets are kept") {
  struct Row {
    const char* why;
    u32 version;
    std::size_t at;
    u32 content;
    std::size_t sets;
  };
  const auto row = GENERATE(values<Row>({
      {"more sets than there is room for", 2, 4, 0x7fff'ffff, 3},
      {"more sets than there is room for", 6, 12, 0xffff'ffff, 3},
      {"a name behind the section", 2, 8, 0xffff'fff0, 2},
      {"a name that wraps around", 4, 16 + 8, 0xffff'ffff, 2},
      {"hosts behind the section", 4, 16 + 20, 0xffff'fffc, 2},
      {"endless hosts", 6, 28 + 20, 0xffff'ffff, 2},
      {"more of a name compared than there is", 6, 28 + 12, 0x1000, 2},
      {"a map longer than its section", 6, 4, 0x7fff'ffff, 3},
  }));
  CAPTURE(row.why, row.version);
  auto writer =
      fixtures::ByteWriter{}.write_bytes(fixtures::build_api_set_schema(row.version, some_sets));
  writer.patch(row.at, row.content);
  core::Findings findings;
  const auto schema = read(writer.bytes(), findings);
  CHECK(codes(findings).find("api-set-schema") == 0);
  // Of sets that there is no room for, the first bytes of other tables may look like one.
  CHECK(schema.sets.size() >= row.sets);
  CHECK(host_of(schema, "api-ms-win-core-heap-l1-1-0") == "kernelbase.dll");
}

TEST_CASE("another version of an API set schema is not read") {
  const auto bytes = fixtures::ByteWriter{}.write_u32(3).write_zeros(64).bytes();
  core::Findings findings;
  const auto schema = pe::read_api_set_schema(bytes, 0x400, findings);
  REQUIRE_FALSE(schema);
  CHECK(schema.error().fault == core::Fault::unsupported);
}

TEST_CASE("sets that share one long list of hosts do not cost more than the section allows") {
  std::vector<ApiSetSpec> sets(1, {"api-ms-many-l1-1-0", {}});
  for (int i = 0; i < 1'000; ++i) sets[0].hosts.emplace_back("", "a.dll");
  for (int i = 0; i < 1'000; ++i) sets.push_back({fmt::format("api-ms-{}-l1-1-0", i), {}});
  auto writer = fixtures::ByteWriter{}.write_bytes(fixtures::build_api_set_schema(6, sets));
  const auto values = *core::load<u32>(writer.view(), 28 + 16);
  for (u32 i = 1; i < sets.size(); ++i)
    writer.patch(28 + i * 24 + 16, values).patch(28 + i * 24 + 20, u32{1'000});
  test::reset_allocation_peak();
  core::Findings findings;
  const auto schema = read(writer.bytes(), findings);
  CHECK(findings.count("api-set-schema") > 900);
  CHECK(test::allocation_peak() < 40 * writer.size());
}

TEST_CASE("the schema lies in section .apiset of its image") {
  Opened image{fixtures::api_set_schema_image(6, some_sets)};
  const auto schema = pe::find_api_set_schema(*image, image.findings);
  REQUIRE(schema);
  REQUIRE(*schema);
  CHECK((*schema)->sets.size() == 3);
  Opened other{fixtures::PeSpec{}};
  const auto none = pe::find_api_set_schema(*other, other.findings);
  REQUIRE(none);
  CHECK_FALSE(*none);
}

}  // namespace
}  // namespace coldtrace
