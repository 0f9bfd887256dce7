#include "coldtrace/pe/version_info.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

fixtures::PeVersion sample() {
  fixtures::PeVersion version;
  version.file = {10, 0, 19041, 3155};
  version.product = {10, 0, 19041, 0};
  version.strings = {{"OriginalFilename", "ntdll.dll"}, {"CompanyName", "Firma \xc3\xa4"}};
  return version;
}

TEST_CASE("a version resource has numbers and strings") {
  const auto bytes = fixtures::build_version(sample());
  core::Findings findings;
  const auto info = pe::read_version_info(bytes, 0x100, findings);
  CHECK(findings.empty());
  REQUIRE(info.fixed);
  CHECK(pe::to_string(info.fixed->file) == "10.0.19041.3155");
  CHECK(pe::to_string(info.fixed->product) == "10.0.19041.0");
  CHECK(info.fixed->type == 2);
  REQUIRE(info.strings.size() == 2);
  CHECK(info.strings[0].language == "040904b0");
  CHECK(info.find("OriginalFilename") == "ntdll.dll");
  CHECK(info.find("CompanyName") == "Firma \xc3\xa4");
  CHECK(info.find("Absent").empty());
}

TEST_CASE("a version resource cut anywhere is a finding, never a wild read") {
  const auto bytes = fixtures::build_version(sample());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    const std::unique_ptr<std::byte[]> copy{new std::byte[cut]};
    std::copy_n(bytes.begin(), cut, copy.get());
    core::Findings findings;
    (void)pe::read_version_info({copy.get(), cut}, 0, findings);
    CHECK(findings.count("version-node") + findings.count("version-fixed") > 0);
  }
}

TEST_CASE("damaged nodes end their list") {
  struct Row {
    const char* why;
    std::size_t at;
    u16 content;
    const char* code;
  };
  const auto row = GENERATE(values<Row>({
      {"the root is longer than the resource", 0, 0xffff, "version-node"},
      {"the root is shorter than its header", 0, 5, "version-node"},
      {"another key", 6, 'X', "version-node"},
      {"another signature of the numbers", 40, 0, "version-fixed"},
      {"the first block is longer than the root", 92, 0xffff, "version-node"},
  }));
  CAPTURE(row.why);
  auto bytes = fixtures::build_version(sample());
  std::memcpy(bytes.data() + row.at, &row.content, 2);
  core::Findings findings;
  (void)pe::read_version_info(bytes, 0, findings);
  CHECK(findings.count(row.code) >= 1);
}

TEST_CASE("every byte may be any other without a crash") {
  const auto good = fixtures::build_version(sample());
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const unsigned bent : {0x00U, 0x01U, 0x7fU, 0xffU}) {
      auto bytes = good;
      bytes[at] = static_cast<std::byte>(bent);
      core::Findings findings;
      CHECK(pe::read_version_info(bytes, 0, findings).strings.size() <= good.size());
    }
}

}  // namespace
}  // namespace coldtrace
