#include "coldtrace/pdb/isf_file.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::pe;

namespace {

IsfTable sample() {
  IsfTable table;
  table.format = "6.2.0";
  table.guid = "3844dbb920174967be7aa4a2c20430fa";
  table.database = "ntkrnlmp.pdb";
  table.age = IsfTable::Integer{2};
  return table;
}

}  // namespace

TEST_CASE("a symbol table says of which PDB it was made") {
  const auto identity = identify_isf(sample());
  REQUIRE(identity);
  REQUIRE(identity->guid);
  CHECK(to_plain_text(*identity->guid) == "3844DBB920174967BE7AA4A2C20430FA");
  CHECK(identity->age == 2);
  CHECK(identity->name == "ntkrnlmp.pdb");
  CHECK_FALSE(identity->machine);
}

TEST_CASE("a table of another format, or of no PDB, is none that can be used") {
  auto table = sample();
  SECTION("the format") {
    table.format = "4.1.0";
  }
  SECTION("a GUID of 31 digits") {
    table.guid = table.guid.substr(1);
  }
  SECTION("an age below 0") {
    table.age = IsfTable::Integer{~u64{0}, true};
  }
  SECTION("an age of 33 bits") {
    table.age = IsfTable::Integer{u64{1} << 32U};
  }
  SECTION("no age") {
    table.age.reset();
  }
  CHECK_FALSE(identify_isf(table));
}

TEST_CASE("symbols become public ones, at their addresses") {
  auto table = sample();
  table.symbols = {{"KeBugCheck", "", IsfTable::Integer{0x1234}},
                   {"NoPlace", "", std::nullopt},
                   {"Below", "", IsfTable::Integer{~u64{0}, true}}};
  const auto file = to_symbol_file("table.json", table);
  REQUIRE(file);
  CHECK(file->path == "table.json");
  REQUIRE(file->publics.symbols.size() == 1);
  CHECK(file->publics.symbols[0].name == "KeBugCheck");
  CHECK(file->findings.count("isf-entry") == 2);
}
