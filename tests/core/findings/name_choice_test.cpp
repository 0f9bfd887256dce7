#include "coldtrace/core/name_choice.hpp"

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

TEST_CASE("names are chosen by any of the globs, and a glob of none is told with what comes near") {
  const std::vector<std::string> names{"NtClose", "NtOpenFile", "NtOpenKey", "system call 0x12"};
  core::NoMatch unmatched;
  const std::vector<std::string> globs{"ntopen*", "NTCLOSE"};
  CHECK(core::choose_names(globs, names, "--service", unmatched) ==
        std::vector<bool>{true, true, true, false});
  CHECK(unmatched.empty());
  const std::vector<std::string> others{"NtClos", "*0x12"};
  CHECK(core::choose_names(others, names, "--service", unmatched) ==
        std::vector<bool>{false, false, false, true});
  core::Findings findings;
  unmatched.report(findings);
  REQUIRE(findings.count("no-match") == 1);
  CHECK(findings.all()[0].text.find("--service") != std::string::npos);
  CHECK(findings.all()[0].text.find("NtClose") != std::string::npos);
}

TEST_CASE("a name with an unpaired surrogate is proposed as outputs show it") {
  const std::vector<std::string> names{
      "note\xed\xa0\x80"
      "ad.exe"};
  const std::vector<std::string> globs{"notead.exe"};
  core::NoMatch unmatched;
  CHECK(core::choose_names(globs, names, "--process", unmatched) == std::vector<bool>{false});
  core::Findings findings;
  unmatched.report(findings);
  REQUIRE(findings.count("no-match") == 1);
  CHECK(findings.all()[0].text.find("'note\xef\xbf\xbd"
                                    "ad.exe'") != std::string::npos);
}

TEST_CASE("without globs no name is chosen") {
  core::NoMatch unmatched;
  const std::vector<std::string> names{"NtClose"};
  CHECK(core::choose_names({}, names, "--service", unmatched) == std::vector<bool>{false});
  CHECK(unmatched.empty());
}

}  // namespace
}  // namespace coldtrace
