#include "coldtrace/tracefile/opening/input_file.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/etl_file.hpp"
#include "fixtures/builders/temporary_directory.hpp"

namespace {

using namespace coldtrace;

}  // namespace

TEST_CASE("traces in a folder are told by contents, and by names where contents tell nothing") {
  const fixtures::TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path("root/deep"));
  const auto bytes = fixtures::build_etl({}, {fixtures::EtlBuffer{0}});
  const std::string trace{core::to_chars(bytes)};
  const std::string packed{"\x1f\x8b\x08", 3};  // RFC 1952, section 2.3.1
  struct File {
    const char* name;
    const std::string& content;
    bool found;
  };
  const std::string unknown = "\x01\x02\x03", text = "?";
  const std::vector<File> files{
      {"a.bin", trace, true},
      {"b.ETL", unknown, true},
      {"c.txt", unknown, false},
      {"d.etl.gz", packed, true},
      {"deep/e.ctrace", unknown, true},
      {"deep/f.txt.gz", packed, false},
      {"g.diagsession.gz", packed, true},
      {"h.etl", text, false},
  };
  std::vector<std::string> expected;
  for (const auto& file : files) {
    const auto path = directory.write("root/" + std::string{file.name}, file.content);
    if (file.found) expected.push_back(path);
  }
  std::filesystem::create_symlink(directory.path("root/a.bin"), directory.path("root/link.etl"));
  core::Findings findings;
  const auto found = tracefile::find_traces(directory.path("root"), findings);
  REQUIRE(found);
  CHECK(*found == expected);
  CHECK(findings.empty());
  CHECK_FALSE(tracefile::find_traces(directory.path("nowhere"), findings));
}
