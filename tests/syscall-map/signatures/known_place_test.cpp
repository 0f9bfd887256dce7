#include "coldtrace/syscall-map/signatures/known_place.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using From = KnownPlace::From;

TEST_CASE("the first that says where a function is counts, and a symbol elsewhere is told") {
  struct Row {
    const char* why;
    PlaceClaims claims;
    std::optional<pe::Rva> rva;
    From from;
    std::string finding;
  };
  const pe::Rva here{0x1000}, there{0x2000};
  const NamedPlace symbol{"SwapContext", here};
  const auto row = GENERATE_COPY(values<Row>({
      {"nothing says it", {}, {}, From::other_image, ""},
      {"a symbol alone", {{}, {}, symbol}, here, From::pdb, ""},
      {"an export as the symbol has it", {{}, here, symbol}, here, From::exported, ""},
      {"an export elsewhere",
       {{}, there, symbol},
       there,
       From::exported,
       "the export directory says RVA 0x2000, the PDB has SwapContext at 0x1000"},
      {"an option as the symbol has it", {here, there, symbol}, here, From::option, ""},
      {"an option elsewhere is told, and the export is not",
       {there, pe::Rva{0x3000}, symbol},
       there,
       From::option,
       "--at says RVA 0x2000, the PDB has SwapContext at 0x1000"},
      {"an option against an export", {here, there, {}}, here, From::option, ""},
  }));
  CAPTURE(row.why);
  core::Findings findings;
  const auto place = choose_known_place(row.claims, findings);
  CHECK(place.rva == row.rva);
  CHECK(place.from == row.from);
  REQUIRE(findings.all().size() == (row.finding.empty() ? 0U : 1U));
  if (row.finding.empty()) return;
  CHECK(findings.all().front().code == "symbol-disagrees");
  CHECK(findings.all().front().text == row.finding);
}

TEST_CASE("of a function that no image has the nearest exports are told, unless its PDB did so") {
  fixtures::PeSpec spec;
  spec.exports = fixtures::PeExports{"a.dll", 1, {{"SwapContext", 1, 0x1000}}};
  const test::Opened image{spec};
  REQUIRE(image);
  core::Findings findings;
  note_unknown_function(*image, "SwapContxt", findings);
  REQUIRE(findings.count("no-match") == 1);
  CHECK(findings.all().front().text.find("'SwapContxt'; did you mean 'SwapContext'") !=
        std::string::npos);
  note_unknown_function(*image, "SwapContxt", findings);
  CHECK(findings.count("no-match") == 1);
}

}  // namespace
}  // namespace coldtrace
