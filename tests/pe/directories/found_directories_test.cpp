#include "coldtrace/pe/found_directories.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::Opened;

// An image whose directory of this number is nowhere in it.
fixtures::PeSpec spec_without(u32 directory) {
  fixtures::PeSpec spec;
  spec.directories = {{directory, {0x7000'0000, 0x100}}};
  return spec;
}

TEST_CASE("a directory that cannot be read is none, and a finding under its name") {
  struct Row {
    u32 number;
    const char* code;
    bool (*has)(const pe::Image&, core::Findings&);
  };
  const auto row = GENERATE(values<Row>({
      {0, "export-directory",
       [](const pe::Image& image, core::Findings& findings) {
         return pe::find_export_directory(image, findings).has_value();
       }},
      {0, "export-directory",
       [](const pe::Image& image, core::Findings& findings) {
         return pe::find_export_count(image, findings).has_value();
       }},
      {9, "tls-directory",
       [](const pe::Image& image, core::Findings& findings) {
         return pe::find_tls_directory(image, findings).has_value();
       }},
      {10, "load-config",
       [](const pe::Image& image, core::Findings& findings) {
         return pe::find_load_config(image, findings).has_value();
       }},
      {14, "clr-header",
       [](const pe::Image& image, core::Findings& findings) {
         return pe::find_clr_header(image, findings).has_value();
       }},
  }));
  CAPTURE(row.number, row.code);
  Opened damaged{spec_without(row.number)};
  core::Findings findings;
  CHECK_FALSE(row.has(*damaged, findings));
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all()[0].code.view() == row.code);
  CHECK(findings.all()[0].severity == core::Severity::warning);
  // What an image does not have is not a finding.
  const Opened plain{fixtures::PeSpec{}};
  core::Findings none;
  (void)row.has(*plain, none);
  CHECK(none.empty());
}

TEST_CASE("a directory that is there is found") {
  fixtures::PeSpec spec;
  spec.exports = fixtures::PeExports{"fixture.dll", 1, {{"A"}, {"B", 2}}};
  Opened image{spec};
  const auto exports = pe::find_export_directory(*image, image.findings);
  REQUIRE(exports);
  CHECK(exports->exports.size() == 2);
  CHECK(pe::find_export_count(*image, image.findings) == 2);
  CHECK(image.findings.empty());
}

}  // namespace
}  // namespace coldtrace
