#include "coldtrace/pdb/pdb_procedures.hpp"

#include "fixtures/builders/pdb_file.hpp"
#include "tests/pe/pdb/pdb_test.hpp"

namespace coldtrace {
namespace {

std::vector<std::string> procedures_of(const fixtures::PdbSpec& spec, core::Findings& findings) {
  const auto file = build_pdb(spec);
  const auto pdb = pe::Pdb::open(file.view(), findings);
  REQUIRE(pdb);
  const auto sections = pe::PdbSections::read(*pdb, findings);
  std::vector<std::string> rows;
  pe::read_procedures(
      *pdb, sections,
      [&](const pe::Procedure& one) {
        rows.push_back(fmt::format("{} {} {:#x} {:#x} {}", one.name, static_cast<int>(one.kind),
                                   value(one.address), one.size, one.module));
      },
      findings);
  return rows;
}

TEST_CASE("parts of functions have the name of theirs, behind the procedures of the module") {
  fixtures::PdbSpec spec;
  spec.modules = {
      {"a.obj", {{"f", 0x10, 0x20}, {"g", 0x40, 0x10, 0x110f}}, {{0x800, 0x30, 0x40}}},
      {"b.obj", {{"h", 0x100, 0x10}}, {{0x900, 8, 0x100}, {0xa00, 8, 0x10}, {0x2000, 8, 0x100}}}};
  core::Findings findings;
  // A function of another module is none of its own, and what lies outside has no address.
  CHECK(procedures_of(spec, findings) ==
        std::vector<std::string>{"f 0 0x1010 0x20 a.obj", "g 1 0x1040 0x10 a.obj",
                                 "g 2 0x1800 0x30 a.obj", "h 0 0x1100 0x10 b.obj",
                                 "h 2 0x1900 0x8 b.obj"});
  CHECK(findings.empty());
}

TEST_CASE("names of parts are no longer than the file") {
  fixtures::PdbSpec spec;
  spec.modules = {{"a.obj", {{std::string(30'000, 'f'), 0x10}}, {}}};
  spec.modules[0].parts.resize(20, {0x800, 1, 0x10});
  core::Findings findings;
  CHECK(procedures_of(spec, findings).size() < 10);
  CHECK(findings.count("pdb-procedures") == 1);
}

TEST_CASE("names of modules are cut") {
  fixtures::PdbSpec spec;
  spec.modules = {{std::string(3'000, 'm'), {{"f", 0x10}}}};
  core::Findings findings;
  const auto rows = procedures_of(spec, findings);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].size() < 1'100);
}

}  // namespace
}  // namespace coldtrace
