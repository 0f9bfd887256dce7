#include "coldtrace/syscall-map/trace-points/function_search.hpp"

#include "tests/pe/pe_test.hpp"
#include "tests/syscall-map/code/placed_code.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using fixtures::to_bytes;
using test::Opened;

// Alpha and Beta are exported, Elsewhere is in another image. At 0x1040 and 0x1080 are the bytes of
// the signature of Twice, at 0x10c0 those of Once.
fixtures::PeSpec spec() {
  return spec_of_code(
      0x100, std::byte{0xcc},
      {"ntoskrnl.exe",
       1,
       {{"Alpha", 1, 0x1000}, {"Beta", 2, 0x1010}, {"Elsewhere", 3, 0, "HAL.Elsewhere"}}},
      {{0x1000, to_bytes({0x48, 0x89, 0xc8, 0xc3})},
       {0x1010, to_bytes({0x48, 0x89, 0xd0, 0xc3})},
       {0x1040, to_bytes({0x0f, 0x1f, 0x44, 0x11, 0xc3})},
       {0x1080, to_bytes({0x0f, 0x1f, 0x44, 0x11, 0xc3})},
       {0x10c0, to_bytes({0x0f, 0x1f, 0x44, 0x22, 0xc3})}});
}

Signature signature(std::string function, std::initializer_list<unsigned> bytes,
                    bool verified = true) {
  Signature made;
  made.id = function + "-x64";
  made.function = std::move(function);
  made.machine = pe::Machine::amd64;
  made.verified = verified;
  for (const auto byte : bytes)
    made.pattern.push_back({.value = static_cast<u8>(byte), .mask = 0xff});
  return made;
}

struct Sources {
  std::vector<Signature> signatures{signature("Twice", {0x0f, 0x1f, 0x44, 0x11}),
                                    signature("Once", {0x0f, 0x1f, 0x44, 0x22}, false),
                                    signature("Absent", {0x0f, 0x1f, 0x44, 0x33})};
  std::vector<NamedPlace> symbols{{"Hidden", pe::Rva{0x1010}}, {"Alpha", pe::Rva{0x1000}}};
  std::vector<HookService> services;
};

FunctionSearch find(const std::string& wanted, const Sources& sources = {}) {
  const Opened image{spec()};
  REQUIRE(image);
  const pe::ImageTables tables{*image};
  return find_functions(tables, wanted, {sources.signatures, sources.symbols, sources.services});
}

TEST_CASE("a function is where the first source has it, with what each source says") {
  const auto found = find("Alpha");
  REQUIRE(found.locations.size() == 1);
  const auto& location = found.locations[0];
  CHECK(location.function == "Alpha");
  CHECK(location.rva == pe::Rva{0x1000});
  CHECK(location.address == spec_base + 0x1000);
  CHECK(location.file_offset == fixtures::build_pe(spec()).offset_of(0x1000));
  CHECK(location.chosen);
  REQUIRE(location.sources.size() == 2);
  CHECK(location.sources[0].source == PlaceSource::exported);
  CHECK(location.sources[1].source == PlaceSource::symbol);
  CHECK(location.symbol == "Alpha");
  CHECK_FALSE(location.confirmed());
  CHECK(found.findings.empty());
}

TEST_CASE("a PDB that has an exported function elsewhere is told, and the export counts") {
  Sources sources;
  sources.symbols = {{"Alpha", pe::Rva{0x1010}}};
  const auto found = find("Alpha", sources);
  REQUIRE(found.locations.size() == 2);
  CHECK(found.locations[0].rva == pe::Rva{0x1000});
  CHECK(found.locations[0].chosen);
  CHECK(found.locations[1].rva == pe::Rva{0x1010});
  CHECK_FALSE(found.locations[1].chosen);
  CHECK(found.findings.count("symbol-disagrees") == 1);
}

TEST_CASE("a service is where its table has it") {
  Sources sources;
  HookService service;
  service.names = {"NtHidden"};
  service.image = ImageRole::kernel;
  service.target = pe::Rva{0x1010};
  sources.services = {service};
  const auto found = find("NtHidden", sources);
  REQUIRE(found.locations.size() == 1);
  CHECK(found.locations[0].rva == pe::Rva{0x1010});
  CHECK(found.locations[0].sources[0].source == PlaceSource::service_table);
}

TEST_CASE("a signature that matches at one place finds the function, and what it lacks is told") {
  const auto found = find("Once");
  REQUIRE(found.locations.size() == 1);
  CHECK(found.locations[0].rva == pe::Rva{0x10c0});
  REQUIRE(found.locations[0].matches.size() == 1);
  CHECK(found.tried == 1);
  CHECK_FALSE(found.locations[0].verified());
  CHECK(found.findings.count("signature-unverified") == 1);
  CHECK_FALSE(found.findings.has_warnings());
  Sources named;
  named.symbols = {{"Once", pe::Rva{0x10c0}}};
  const auto confirmed = find("Once", named);
  REQUIRE(confirmed.locations.size() == 1);
  CHECK(confirmed.locations[0].confirmed());
}

TEST_CASE("a signature that matches twice leaves two places, and a warning") {
  const auto found = find("Twice");
  REQUIRE(found.locations.size() == 2);
  CHECK(found.locations[0].rva == pe::Rva{0x1040});
  CHECK(found.locations[1].rva == pe::Rva{0x1080});
  CHECK(found.locations[0].chosen);
  CHECK(found.locations[1].chosen);
  CHECK(found.findings.count("function-ambiguous") == 1);
}

TEST_CASE("what nothing has is told, with the reason or the nearest name") {
  struct Row {
    const char* wanted;
    const char* said;
  };
  const auto row = GENERATE(values<Row>({
      {"Elsewhere", "Elsewhere is not in this image: it is exported as HAL.Elsewhere"},
      {"Alpah", "Alpha"},
      {"Absent", "Absent"},
      {"", "nothing"},
      {"Zz*", "Zz*"},
  }));
  CAPTURE(row.wanted);
  const auto found = find(row.wanted);
  CHECK(found.locations.empty());
  REQUIRE(found.findings.count("no-match") == 1);
  CHECK(found.findings.all().back().text.find(row.said) != std::string::npos);
}

TEST_CASE("a glob finds all functions that it matches, by place") {
  const auto found = find("*a");
  REQUIRE(found.locations.size() == 2);
  CHECK(found.locations[0].function == "Alpha");
  CHECK(found.locations[1].function == "Beta");
  CHECK(found.findings.count("no-match") == 0);
}

}  // namespace
}  // namespace coldtrace
