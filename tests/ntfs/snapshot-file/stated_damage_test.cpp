#include "coldtrace/ntfs/snapshot-file/stated_damage.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;

TEST_CASE("warnings of a snapshot are one finding with their codes and counts") {
  ntfs::StatedDamage damage;
  core::Findings none, findings;
  damage.report(none);
  CHECK(none.empty());
  damage.add_warning("torn-fixup", 1);
  damage.add_warning("index-buffer", 3);
  damage.report(findings);
  REQUIRE(findings.count("snapshot-findings") == 1);
  CHECK(findings.has_warnings());
  CHECK(findings.all().front().text ==
        "when the snapshot was taken, damage was found: torn-fixup (1), index-buffer (3). What "
        "could not be read then is not in it");
}

TEST_CASE("a sentence bears as many codes as it can, each cut to forty bytes") {
  ntfs::StatedDamage damage;
  for (int i = 0; i < 1000; ++i) damage.add_warning(std::string(5000, 'x'), ~u64{0});
  core::Findings findings;
  damage.report(findings);
  const auto& text = findings.all().front().text;
  CHECK(text.find(", and more.") != std::string::npos);
  CHECK(text.find(std::string(41, 'x')) == std::string::npos);
  CHECK(text.size() < 500);
}
