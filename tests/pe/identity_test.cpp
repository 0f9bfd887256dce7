#include "coldtrace/pe/identity.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::Opened;

TEST_CASE("an identity tells a build from all others") {
  auto spec = test::full_spec();
  spec.version->file = {10, 0, 19041, 1741};
  const auto built = fixtures::build_pe(spec);
  Opened image{built};
  const auto identity = pe::read_identity(*image, image.findings);
  CHECK(image.findings.empty());
  CHECK(identity.name == "fixture.dll");
  CHECK(identity.machine == pe::Machine::amd64);
  CHECK(identity.file_version == "10.0.19041.1741");
  CHECK(identity.time_date_stamp == 0x4ce7ab88);
  CHECK(identity.size_of_image == built.size_of_image);
  CHECK(identity.checksum == 0x1234);
  REQUIRE(identity.pdb);
  CHECK(identity.pdb->name == "fixture.pdb");
  CHECK_FALSE(identity.wine);
}

TEST_CASE("an identity in words has what a system tells images apart by") {
  pe::Identity identity{};
  identity.machine = pe::Machine::amd64;
  CHECK(to_string(identity) ==
        "(no name) x64 (no version), stamp 0x00000000, size 0x0, checksum 0x0");
  identity.name = "nt\x1b.dll";
  identity.file_version = "10.0.19041.685";
  identity.time_date_stamp = 0x27bfa5f0;
  identity.size_of_image = 0x1f5000;
  identity.checksum = 0x1f8ea7;
  identity.wine = true;
  CHECK(to_string(identity) ==
        "nt\\x1b.dll x64 10.0.19041.685 (Wine), stamp 0x27bfa5f0, size 0x1f5000, checksum "
        "0x1f8ea7");
}

TEST_CASE("without exports the version resource gives the name") {
  fixtures::PeSpec spec;
  spec.version = fixtures::PeVersion{};
  spec.version->strings = {{"OriginalFilename", "smss.exe"}};
  Opened image{spec};
  CHECK(pe::read_identity(*image, image.findings).name == "smss.exe");
}

TEST_CASE("what is absent stays absent") {
  Opened image{fixtures::build_pe()};
  const auto identity = pe::read_identity(*image, image.findings);
  CHECK(identity.name.empty());
  CHECK_FALSE(identity.file_version);
  CHECK_FALSE(identity.pdb);
  CHECK(image.findings.empty());
}

TEST_CASE("Wine's DLLs say what they are") {
  struct Row {
    const char* why;
    const char* stub;
    bool wine;
  };
  const auto row = GENERATE(values<Row>({
      {"built by Wine", "Wine builtin DLL", true},
      {"stands for a DLL of Wine", "Wine placeholder DLL", true},
      {"any DOS stub", "This program cannot be run in DOS mode.", false},
      {"almost", "Wine builtin dll", false},
  }));
  CAPTURE(row.why);
  fixtures::PeSpec spec;
  spec.dos_stub = row.stub;
  CHECK(pe::has_wine_marker(*Opened{spec}) == row.wine);
}

TEST_CASE("a name that is not UTF-8 has the bytes of the file, and is printed escaped") {
  fixtures::PeSpec spec;
  spec.exports = fixtures::PeExports{"b\xff.dll", 1, {{"A"}}};
  Opened image{spec};
  const auto identity = pe::read_identity(*image, image.findings);
  CHECK(identity.name == "b\xff.dll");
  CHECK(pe::to_string(identity).starts_with("b\\xff.dll x64 "));
}

}  // namespace
}  // namespace coldtrace
